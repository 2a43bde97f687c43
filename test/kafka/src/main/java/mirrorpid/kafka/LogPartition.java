package mirrorpid.kafka;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.AbortedTxn;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/** Kafka's own log. The verification of transactions, which needs a coordinator, is off. */
final class LogPartition implements OraclePartition {
    private static final int LEADER_EPOCH = 0;
    private static final BrokerTopicStats STATS = new BrokerTopicStats();

    private final Path directory;
    private final UnifiedLog log;

    LogPartition(Path root, int expirationMs, Scheduler scheduler) throws IOException {
        directory = Files.createDirectory(root.resolve("oracle-0"));
        // The clock stands at 0; records of any time are taken.
        LogConfig config = new LogConfig(Map.of(
                "segment.index.bytes", "4096", "message.timestamp.after.max.ms", Long.toString(Long.MAX_VALUE)));
        int never = Integer.MAX_VALUE;
        log = UnifiedLog.create(
                directory.toFile(), config, 0, 0, scheduler, STATS, new StoppedTime(), never,
                new ProducerStateManagerConfig(expirationMs, false), never, new LogDirFailureChannel(1), true,
                Optional.empty());
    }

    @Override
    public void append(byte[] bytes, String origin, short transactionVersion, boolean isZero, ArrayNode result)
            throws IOException {
        MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(bytes));
        if (origin.equals("replication")) {
            // A replica of the newest epoch of all: it takes batches of any.
            log.appendAsFollower(records, Integer.MAX_VALUE);
            result.add("ok");
            return;
        }
        RecordBatch first = records.batches().iterator().next();
        if (isZero) {
            // What a produce request of a transaction version 2 client leaves before its append.
            state().clearVerificationStateEntry(first.producerId());
            state().maybeCreateVerificationStateEntry(
                    first.producerId(), first.baseSequence(), first.producerEpoch(), true);
        }
        long end = log.logEndOffset();
        try {
            LogAppendInfo info = log.appendAsLeader(
                    records, LEADER_EPOCH, origin.equals("client") ? AppendOrigin.CLIENT : AppendOrigin.COORDINATOR,
                    RequestLocal.noCaching(), VerificationGuard.SENTINEL, transactionVersion);
            if (log.logEndOffset() > end) {
                result.add("ok");
            } else {
                result.add("duplicate");
                result.add(Long.toString(info.firstOffset()));
                result.add(Long.toString(info.lastOffset()));
                result.add(Long.toString(info.logAppendTime()));
            }
        } finally {
            state().clearVerificationStateEntry(first.producerId());
        }
    }

    @Override
    public void highWatermark(long offset) throws IOException {
        log.updateHighWatermark(offset);
    }

    @Override
    public Optional<Long> firstUnstableOffset() {
        return log.firstUnstableOffset();
    }

    @Override
    public List<AbortedTxn> aborted() throws IOException {
        return log.activeSegment().txnIndex().allAbortedTxns();
    }

    @Override
    public ProducerStateManager state() {
        return log.producerStateManager();
    }

    @Override
    public void close() throws IOException {
        log.closeHandlers();
        OraclePartition.delete(directory);
    }
}
