package mirrorpid.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.tools.DumpLogSegments;

/**
 * Kafka's own DumpLogSegments, unchanged. With arguments: one run, as kafka-dump-log.sh does it. Without: reads a JSON
 * array of argument lists from stdin and answers with an array of {@code {stdout, stderr, status}}, because one JVM
 * for a hundred dumps is a minute faster than a hundred.
 */
public final class Dump {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Dump() {}

    /** Takes the place of System.exit inside the tool, so that one bad call does not end the others. */
    @SuppressWarnings("serial")
    private static final class Exited extends RuntimeException {
        private final int status;

        Exited(int status) {
            this.status = status;
        }
    }

    public static void main(String[] args) throws IOException {
        // Payloads are text to the tool; the platform's encoding would turn them into question marks.
        PrintStream stdout = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        if (args.length > 0) {
            System.setOut(stdout);
            try {
                DumpLogSegments.main(args);
            } finally {
                stdout.flush();
            }
            return;
        }
        ArrayNode results = JSON.createArrayNode();
        for (JsonNode job : JSON.readTree(System.in)) {
            results.add(run(JSON.convertValue(job, String[].class)));
        }
        stdout.println(JSON.writeValueAsString(results));
        stdout.flush();
    }

    private static ObjectNode run(String[] args) {
        PrintStream realOut = System.out;
        PrintStream realErr = System.err;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int status = 0;
        try (PrintStream newOut = new PrintStream(out, false, StandardCharsets.UTF_8);
                PrintStream newErr = new PrintStream(err, false, StandardCharsets.UTF_8)) {
            System.setOut(newOut);
            System.setErr(newErr);
            Exit.setExitProcedure((code, message) -> {
                throw new Exited(code);
            });
            DumpLogSegments.main(args);
        } catch (Exited e) {
            status = e.status;
        } catch (Exception e) {
            // As the JVM does for an exception that leaves main; the trace would name our own frames.
            new PrintStream(err, true, StandardCharsets.UTF_8).println("Exception in thread \"main\" " + e);
            status = 1;
        } finally {
            Exit.resetExitProcedure();
            System.setOut(realOut);
            System.setErr(realErr);
        }
        ObjectNode result = JSON.createObjectNode();
        result.put("stdout", out.toString(StandardCharsets.UTF_8));
        result.put("stderr", err.toString(StandardCharsets.UTF_8));
        result.put("status", status);
        return result;
    }
}
