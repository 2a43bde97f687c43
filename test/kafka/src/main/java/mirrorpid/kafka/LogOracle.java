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

/**
 * Sequences of operations on a log in, what Kafka's own UnifiedLog makes of them out: one JSON document a line, on stdin
 * and stdout. A sequence is {@code {"settings": {...}, "steps": [...]}}; the steps are those of {@link OracleLog#run}. The
 * answer: {@code results}, one a step, with the offsets after it; and {@code files}, the bytes of the directory after a
 * clean close, in base64. A log that does not open ends its sequence.
 */
public final class LogOracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    private LogOracle() {}

    public static void main(String[] args) throws Exception {
        Path root = Files.createTempDirectory("mirrorpid-log-oracle-");
        PrintStream stdout = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                Path directory = Files.createDirectory(root.resolve("oracle-0"));
                stdout.println(JSON.writeValueAsString(answer(JSON.readTree(line), directory)));
                OraclePartition.delete(directory);
            }
        } finally {
            OraclePartition.delete(root);
        }
        stdout.flush();
    }

    private static ObjectNode answer(JsonNode sequence, Path directory) throws IOException {
        ObjectNode out = JSON.createObjectNode();
        ArrayNode results = out.putArray("results");
        OracleLog log = new OracleLog(directory, sequence.get("settings"), sequence.path("files"));
        for (JsonNode step : sequence.get("steps")) {
            ArrayNode result = results.addArray();
            try {
                log.run(step, result);
            } catch (IOException | RuntimeException e) {
                result.removeAll();
                result.add(e.getClass().getSimpleName());
            }
            if (!log.isOpen()) {
                return out;
            }
            log.offsets().forEach(offset -> result.add(Long.toString(offset)));
        }
        log.close();
        out.set("files", OracleLog.files(directory));
        return out;
    }
}
