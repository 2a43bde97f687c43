package mirrorpid.kafka;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads partition files with Kafka's own classes and says what Kafka sees in them, as one JSON document on stdout.
 *
 * <p>Arguments: files, {@code @list} (a file with one path a line) or {@code @-} (the same, from stdin). Offsets,
 * producer ids and timestamps are decimal strings: they do not fit a JSON number in every reader.
 */
public final class Judge {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Judge() {}

    public static void main(String[] args) throws IOException {
        ArrayNode out = JSON.createArrayNode();
        for (String path : paths(args)) {
            out.add(judge(path));
        }
        PrintStream stdout = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        stdout.println(JSON.writeValueAsString(out));
        stdout.flush();
    }

    private static ObjectNode judge(String path) {
        ObjectNode result = JSON.createObjectNode();
        result.put("path", path);
        File file = new File(path);
        String kind = path.substring(path.lastIndexOf('.') + 1);
        result.put("kind", kind);
        try {
            switch (kind) {
                case "log", "checkpoint" -> LogJudge.judge(file, result);
                case "snapshot" -> StateFileJudge.snapshot(file, result);
                case "txnindex" -> StateFileJudge.transactionIndex(file, result);
                default -> throw new IOException("can judge only .log, .checkpoint, .snapshot and .txnindex");
            }
        } catch (IOException | RuntimeException e) {
            result.put("error", message(e));
        }
        return result;
    }

    /** Kafka creates a missing transaction index, and then calls it empty and fine. */
    static void requireFile(File file) throws IOException {
        if (!file.isFile()) {
            throw new IOException("no such file");
        }
    }

    /** The class tells Kafka's classes of failure apart: see which errors recovery cuts at and which stop a broker. */
    static String message(Throwable error) {
        String name = error.getClass().getSimpleName();
        return error.getMessage() == null ? name : name + ": " + error.getMessage();
    }

    private static List<String> paths(String[] args) throws IOException {
        List<String> paths = new ArrayList<>();
        for (String arg : args) {
            if (arg.equals("@-")) {
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).lines().forEach(paths::add);
            } else if (arg.startsWith("@")) {
                paths.addAll(Files.readAllLines(Path.of(arg.substring(1))));
            } else {
                paths.add(arg);
            }
        }
        paths.removeIf(String::isBlank);
        return paths;
    }
}
