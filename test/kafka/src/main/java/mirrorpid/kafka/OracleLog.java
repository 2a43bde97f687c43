package mirrorpid.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Records;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.UnexpectedAppendOffsetException;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.LogStartOffsetIncrementReason;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/** Kafka's own log on a directory, driven step by step. Nothing happens in the background. */
final class OracleLog {
    private static final BrokerTopicStats STATS = new BrokerTopicStats();

    private final Path directory;
    private final LogConfig config;
    private UnifiedLog log;

    OracleLog(Path directory, JsonNode settings, JsonNode files) throws IOException {
        this.directory = directory;
        Map<String, String> all = new HashMap<>();
        // The clock stands at 0; records of any time are taken and kept.
        all.put("message.timestamp.after.max.ms", Long.toString(Long.MAX_VALUE));
        all.put("retention.ms", "-1");
        settings.fields().forEachRemaining(field -> all.put(field.getKey(), field.getValue().asText()));
        config = new LogConfig(all);
        for (var fields = files.fields(); fields.hasNext(); ) {
            var file = fields.next();
            Files.write(directory.resolve(file.getKey()), file.getValue().binaryValue());
        }
        if (files.isMissingNode()) {
            open(0, 0, true);
        }
    }

    boolean isOpen() {
        return log != null;
    }

    /** Log start, log end, last stable offset, high watermark. */
    List<Long> offsets() {
        // Where a batch goes across the log start offset, its first offset stands for the last stable one.
        long lastStableOffset = Math.max(log.lastStableOffset(), log.logStartOffset());
        return List.of(log.logStartOffset(), log.logEndOffset(), lastStableOffset, log.highWatermark());
    }

    void close() throws IOException {
        makeIndexes();
        log.close();
        log = null;
    }

    /** A step is one of the cases below; the answer begins with {@code "ok"} unless a case says more. */
    void run(JsonNode step, ArrayNode result) throws IOException {
        switch (step.get("op").asText()) {
            case "append" -> append(step, result);
            case "roll" -> log.roll();
            case "truncate" -> {
                // A segment whose largest timestamp has not been asked for yet forgets those before the cut.
                for (LogSegment segment : log.logSegments()) {
                    segment.largestTimestamp();
                }
                result.add(log.truncateTo(step.get("offset").asLong()));
                // A broker's first unstable offset is that from before until its next fetch has come.
                log.updateHighWatermark(log.highWatermark());
            }
            case "restart" -> log.truncateFullyAndStartAt(step.get("offset").asLong(), Optional.empty());
            case "flush" -> log.flush(true);
            case "highWatermark" -> {
                if (step.get("offset").asLong() > log.highWatermark()) {
                    log.updateHighWatermark(step.get("offset").asLong());
                }
            }
            case "logStart" -> {
                if (log.maybeIncrementLogStartOffset(
                        step.get("offset").asLong(), LogStartOffsetIncrementReason.ClientRecordDeletion)) {
                    log.deleteOldSegments();
                }
            }
            case "endOffsetFor" -> {
                Optional<OffsetAndEpoch> end = log.endOffsetForEpoch(step.get("epoch").asInt());
                result.add(end.map(e -> e.epoch() + " " + e.offset()).orElse("none"));
            }
            case "read" -> read(step, result);
            case "close" -> close();
            // The process is gone: no file is trimmed, nothing more is written.
            case "crash" -> {
                makeIndexes();
                log.closeHandlers();
                log = null;
            }
            default -> {}
        }
        switch (step.get("op").asText()) {
            case "close", "crash", "open" -> {
                log = null;
                for (JsonNode damage : step.path("damage")) {
                    damage(damage);
                }
                open(step.get("logStartOffset").asLong(), step.get("recoveryPoint").asLong(),
                        step.get("clean").asBoolean());
            }
            default -> {}
        }
        if (result.isEmpty()) {
            result.add("ok");
        }
    }

    /** Kafka makes the index files of a segment when it first needs them, and recovers a segment that has none. */
    private void makeIndexes() throws IOException {
        log.activeSegment().offsetIndex();
        log.activeSegment().timeIndex();
    }

    private void open(long logStartOffset, long recoveryPoint, boolean clean) throws IOException {
        int never = Integer.MAX_VALUE;
        log = UnifiedLog.create(
                directory.toFile(), config, logStartOffset, recoveryPoint, new InlineScheduler(), STATS,
                new StoppedTime(), never, new ProducerStateManagerConfig(never, false), never,
                new LogDirFailureChannel(1), clean, Optional.empty());
    }

    private void append(JsonNode step, ArrayNode result) throws IOException {
        MemoryRecords records =
                MemoryRecords.readableRecords(ByteBuffer.wrap(step.get("records").binaryValue()));
        int leaderEpoch = step.get("leaderEpoch").asInt();
        String origin = step.get("origin").asText();
        if (origin.equals("replication")) {
            try {
                log.appendAsFollower(records, leaderEpoch);
            } catch (UnexpectedAppendOffsetException e) {
                // As Partition.doAppendRecordsToFollowerOrFutureReplica does.
                long start = log.logStartOffset();
                if (log.logEndOffset() != start || e.firstOffset >= start || e.lastOffset < start) {
                    throw e;
                }
                log.truncateFullyAndStartAt(e.firstOffset, Optional.of(start));
                log.appendAsFollower(records, leaderEpoch);
            }
            return;
        }
        long end = log.logEndOffset();
        var info = log.appendAsLeader(
                records, leaderEpoch, origin.equals("client") ? AppendOrigin.CLIENT : AppendOrigin.COORDINATOR,
                RequestLocal.noCaching(), VerificationGuard.SENTINEL, (short) step.get("version").asInt());
        if (log.logEndOffset() == end) {
            result.add("duplicate " + info.firstOffset() + " " + info.lastOffset());
        }
    }

    /** The bytes that were read, and the aborted transactions that a consumer would be told. */
    private void read(JsonNode step, ArrayNode result) throws IOException {
        FetchIsolation isolation = switch (step.get("isolation").asText()) {
            case "high_watermark" -> FetchIsolation.HIGH_WATERMARK;
            case "read_committed" -> FetchIsolation.TXN_COMMITTED;
            default -> FetchIsolation.LOG_END;
        };
        FetchDataInfo info =
                log.read(step.get("offset").asLong(), step.get("maxBytes").asInt(), isolation, true);
        result.add("ok");
        result.add(bytes(info.records));
        ArrayNode aborted = result.addArray();
        info.abortedTransactions.ifPresent(
                all -> all.forEach(txn -> aborted.add(txn.producerId() + " " + txn.firstOffset())));
    }

    private static byte[] bytes(Records records) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(records.sizeInBytes());
        if (records instanceof FileRecords file) {
            file.readInto(buffer, 0);
        } else {
            buffer.put(((MemoryRecords) records).buffer());
        }
        return buffer.array();
    }

    /** Changes a file as a crash of the machine might. */
    private void damage(JsonNode damage) throws IOException {
        Path path = directory.resolve(damage.get("file").asText());
        switch (damage.get("kind").asText()) {
            case "remove" -> Files.deleteIfExists(path);
            case "write" -> Files.write(path, damage.get("bytes").binaryValue());
            case "rename" -> Files.move(path, directory.resolve(damage.get("to").asText()));
            case "cut" -> {
                try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                    file.setLength(damage.get("size").asLong());
                }
            }
            case "add" -> {
                try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                    file.seek(file.length());
                    file.write(damage.get("bytes").binaryValue());
                }
            }
            case "flip" -> {
                try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                    file.seek(damage.get("position").asLong());
                    int old = file.read();
                    file.seek(damage.get("position").asLong());
                    file.write(old ^ damage.get("mask").asInt());
                }
            }
            default -> throw new IOException("unknown damage");
        }
    }

    static ObjectNode files(Path directory) throws IOException {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.sorted().toList()) {
                out.put(file.getFileName().toString(), Files.readAllBytes(file));
            }
        }
        return out;
    }
}
