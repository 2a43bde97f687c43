package mirrorpid.kafka;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.storage.internals.log.AbortedTxn;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.CompletedTxn;
import org.apache.kafka.storage.internals.log.ProducerAppendInfo;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;

/**
 * Kafka's producer state without its log, for mapped ids: the log asks for an id above -1, the state itself takes any.
 * What the log does between the two stands here: UnifiedLog.append with origin REPLICATION, with {@code != -1} as the
 * test for a producer.
 */
final class DirectPartition implements OraclePartition {
    private final Path directory;
    private final ProducerStateManager state;
    private final List<AbortedTxn> aborted = new ArrayList<>();

    DirectPartition(Path root, int expirationMs) throws IOException {
        directory = Files.createDirectory(root.resolve("direct-0"));
        state = new ProducerStateManager(
                new TopicPartition("direct", 0), directory.toFile(), Integer.MAX_VALUE,
                new ProducerStateManagerConfig(expirationMs, false), new StoppedTime());
    }

    @Override
    public void append(byte[] bytes, String origin, short transactionVersion, boolean isZero, ArrayNode result) {
        MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(bytes));
        Map<Long, ProducerAppendInfo> updated = new HashMap<>();
        List<CompletedTxn> completed = new ArrayList<>();
        long end = state.mapEndOffset();
        for (RecordBatch batch : records.batches()) {
            end = batch.lastOffset() + 1;
            if (batch.producerId() != RecordBatch.NO_PRODUCER_ID) {
                UnifiedLog.updateProducers(
                                state, batch, updated, Optional.empty(), AppendOrigin.REPLICATION, transactionVersion)
                        .ifPresent(completed::add);
            }
        }
        updated.values().forEach(state::update);
        for (CompletedTxn txn : completed) {
            long lastStableOffset = state.lastStableOffset(txn);
            if (txn.isAborted()) {
                aborted.add(new AbortedTxn(txn, lastStableOffset));
            }
            state.completeTxn(txn);
        }
        state.updateMapEndOffset(end);
        result.add("ok");
    }

    @Override
    public void highWatermark(long offset) {
        state.onHighWatermarkUpdated(offset);
    }

    @Override
    public Optional<Long> firstUnstableOffset() {
        return state.firstUnstableOffset().map(metadata -> metadata.messageOffset);
    }

    @Override
    public List<AbortedTxn> aborted() {
        return aborted;
    }

    @Override
    public ProducerStateManager state() {
        return state;
    }

    @Override
    public void close() throws IOException {
        OraclePartition.delete(directory);
    }
}
