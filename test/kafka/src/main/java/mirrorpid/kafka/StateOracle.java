package mirrorpid.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.ProducerStateManager;

/**
 * Sequences of appends in, what Kafka's own producer state says to each out: one JSON document a line, on stdin and
 * stdout. A sequence is {@code {"mode": "log" | "direct", "zero": bool, "expirationMs": int, "steps": [...]}}; a step is an
 * append {@code {"origin": "client" | "coordinator" | "replication", "version": int, "records": base64}}, a move of the
 * high watermark {@code {"highWatermark": int}} or an expiry {@code {"expire": millis}}. The answer: {@code results}, one
 * a step, then what is known at the end.
 */
public final class StateOracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    private StateOracle() {}

    public static void main(String[] args) throws Exception {
        Path root = Files.createTempDirectory("mirrorpid-oracle-");
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        PrintStream stdout = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                JsonNode sequence = JSON.readTree(line);
                try (OraclePartition partition = open(sequence, root, scheduler)) {
                    stdout.println(JSON.writeValueAsString(answer(partition, sequence, root)));
                }
            }
        } finally {
            scheduler.shutdown();
            OraclePartition.delete(root);
        }
        stdout.flush();
    }

    private static OraclePartition open(JsonNode sequence, Path root, KafkaScheduler scheduler) throws IOException {
        int expirationMs = sequence.get("expirationMs").asInt();
        return sequence.get("mode").asText().equals("log")
                ? new LogPartition(root, expirationMs, scheduler)
                : new DirectPartition(root, expirationMs);
    }

    private static ObjectNode answer(OraclePartition partition, JsonNode sequence, Path root) throws IOException {
        ObjectNode out = JSON.createObjectNode();
        ArrayNode results = out.putArray("results");
        for (JsonNode step : sequence.get("steps")) {
            ArrayNode result = results.addArray();
            if (step.has("highWatermark")) {
                partition.highWatermark(step.get("highWatermark").asLong());
                result.add("ok");
            } else if (step.has("expire")) {
                partition.state().removeExpiredProducers(step.get("expire").asLong());
                result.add("ok");
            } else {
                append(partition, step, sequence.get("zero").asBoolean(), result);
            }
            Optional<Long> unstable = partition.firstUnstableOffset();
            result.add(unstable.isPresent() ? Long.toString(unstable.get()) : null);
        }
        describe(partition, out, root);
        return out;
    }

    private static void append(OraclePartition partition, JsonNode step, boolean isZero, ArrayNode result) {
        try {
            byte[] records = Base64.getDecoder().decode(step.get("records").asText());
            partition.append(records, step.get("origin").asText(), (short) step.get("version").asInt(), isZero, result);
        } catch (IOException | RuntimeException e) {
            result.add(e.getClass().getSimpleName());
        }
    }

    private static void describe(OraclePartition partition, ObjectNode out, Path root) throws IOException {
        ProducerStateManager state = partition.state();
        out.put("mapEndOffset", Long.toString(state.mapEndOffset()));
        ArrayNode producers = out.putArray("producers");
        new TreeMap<>(state.activeProducers()).values()
                .forEach(entry -> StateFileJudge.describe(entry, producers.addObject()));
        ArrayNode aborted = out.putArray("aborted");
        partition.aborted().forEach(txn -> StateFileJudge.describe(txn, aborted.addObject()));
        Path snapshot = root.resolve("state.snapshot");
        Files.deleteIfExists(snapshot);
        ProducerStateManager.writeSnapshot(snapshot.toFile(), state.activeProducers(), false);
        out.put("snapshot", HexFormat.of().formatHex(Files.readAllBytes(snapshot)));
    }
}
