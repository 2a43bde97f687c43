package mirrorpid.kafka;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.AppInfoParser;

/**
 * Starts a broker in the directory given, writes every scenario to it and stops it cleanly. Leaves
 * {@code kafka-logs/} with the partitions and {@code made.json}, which says what was done.
 */
public final class MakeFixtures {
    private static final ObjectMapper JSON = new ObjectMapper();

    private MakeFixtures() {}

    @FunctionalInterface
    private interface Run {
        Scenario on(Broker broker) throws Exception;
    }

    public static void main(String[] args) {
        int status = 1;
        try {
            dieWithParent();
            make(Path.of(args[0]));
            status = 0;
        } catch (Exception e) {
            e.printStackTrace();
        } finally {
            // Threads of clients and of the broker would keep the JVM alive.
            System.exit(status);
        }
    }

    private static void make(Path work) throws Exception {
        List<Run> runs = new ArrayList<>();
        // First, for producer id 0.
        runs.add(broker -> ProducerScenarios.idempotent(broker, "none"));
        runs.add(GroupScenario::run);
        runs.add(ProducerScenarios::plain);
        for (String codec : List.of("gzip", "snappy", "lz4", "zstd")) {
            runs.add(broker -> ProducerScenarios.idempotent(broker, codec));
        }
        runs.add(ProducerScenarios::appendTime);
        runs.add(ProducerScenarios::producers);
        runs.add(TransactionScenarios::interleaved);
        runs.add(TransactionScenarios::acrossSegments);
        runs.add(TransactionScenarios::crashed);
        runs.add(CompactionScenarios::once);
        runs.add(CompactionScenarios::thrice);
        runs.add(TransactionScenarios::acrossRestarts);
        runs.add(TransactionScenarios::oldProtocol);

        ObjectNode made = JSON.createObjectNode();
        made.put("kafkaVersion", AppInfoParser.getVersion());
        ObjectNode topics = made.putObject("topics");
        try (Broker broker = new Broker(work)) {
            for (Run run : runs) {
                long start = System.nanoTime();
                Scenario scenario = run.on(broker);
                topics.set(scenario.topic(), scenario.describe(JSON));
                say(scenario.topic() + ": " + (System.nanoTime() - start) / 1_000_000 + " ms");
            }
        }
        JSON.writeValue(work.resolve("made.json").toFile(), made);
    }

    private static void say(String line) {
        System.err.println(line);
    }

    /** The caller holds our stdin open: when it is gone, however it died, no broker stays behind. */
    private static void dieWithParent() {
        Thread watch = new Thread(() -> {
            try {
                System.in.transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                // Closed: the same as the end of it.
            }
            Runtime.getRuntime().halt(3);
        });
        watch.setDaemon(true);
        watch.start();
    }
}
