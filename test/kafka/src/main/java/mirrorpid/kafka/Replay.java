package mirrorpid.kafka;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Opens copies of partition directories as a starting broker does, and says what it then knows: producers,
 * transactions, the last stable offset. Arguments: {@code crash} (snapshots are dropped, all segments recovered) or
 * {@code clean} (as after a clean shutdown), then directories.
 */
public final class Replay {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Replay() {}

    public static void main(String[] args) throws Exception {
        boolean clean = args[0].equals("clean");
        ArrayNode out = JSON.createArrayNode();
        Path copies = Files.createTempDirectory("mirrorpid-replay-");
        Scheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        try {
            for (String directory : List.of(args).subList(1, args.length)) {
                out.add(replay(Path.of(directory), Files.createTempDirectory(copies, ""), clean, scheduler));
            }
        } finally {
            // Closed logs still write: their last flushes are scheduled.
            scheduler.shutdown();
            delete(copies);
        }
        PrintStream stdout = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        stdout.println(JSON.writeValueAsString(out));
        stdout.flush();
    }

    private static ObjectNode replay(Path directory, Path into, boolean clean, Scheduler scheduler) {
        ObjectNode result = JSON.createObjectNode();
        result.put("path", directory.toString());
        try {
            open(copy(directory, into, clean), clean, scheduler, result);
        } catch (IOException | RuntimeException e) {
            // What keeps a broker from starting.
            result.put("error", Judge.message(e));
        }
        return result;
    }

    private static void open(Path directory, boolean clean, Scheduler scheduler, ObjectNode result)
            throws IOException {
        // Small indexes, or every active segment would be given two of 10 MB.
        LogConfig config = new LogConfig(Map.of("segment.index.bytes", "65536"));
        int never = Integer.MAX_VALUE;
        try (UnifiedLog log = UnifiedLog.create(
                directory.toFile(), config, 0, 0, scheduler, new BrokerTopicStats(), new StoppedTime(), never,
                new ProducerStateManagerConfig(never, false), never, new LogDirFailureChannel(1), clean,
                Optional.empty())) {
            log.updateHighWatermark(log.logEndOffset());
            result.put("logStartOffset", Long.toString(log.logStartOffset()));
            result.put("logEndOffset", Long.toString(log.logEndOffset()));
            result.put("lastStableOffset", Long.toString(log.lastStableOffset()));
            result.put("bytes", log.size());
            ArrayNode producers = result.putArray("producers");
            new TreeMap<>(log.producerStateManager().activeProducers())
                    .values()
                    .forEach(entry -> StateFileJudge.describe(entry, producers.addObject()));
            ArrayNode aborted = result.putArray("abortedTransactions");
            log.collectAbortedTransactions(0, log.logEndOffset())
                    .forEach(txn -> StateFileJudge.describe(txn, aborted.addObject()));
        }
    }

    private static Path copy(Path directory, Path into, boolean clean) throws IOException {
        // Kafka takes topic and partition from the directory's name.
        Path copy = Files.createDirectory(into.resolve(directory.toAbsolutePath().normalize().getFileName()));
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                if (clean || !file.toString().endsWith(".snapshot")) {
                    Files.copy(file, copy.resolve(file.getFileName()));
                }
            }
        }
        return copy;
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
