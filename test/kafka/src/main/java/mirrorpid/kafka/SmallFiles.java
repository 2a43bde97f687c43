package mirrorpid.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.metadata.properties.MetaProperties;
import org.apache.kafka.metadata.properties.PropertiesUtils;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpointFile;
import org.apache.kafka.storage.internals.checkpoint.PartitionMetadataFile;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.EpochEntry;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;

/**
 * What a broker reads in the small files that it keeps: one JSON document {@code {"kind": ..., "content": <base64>}} a line
 * in, and out an array with a string for each thing that was read, in a fixed order, or {@code {"error": ...}}.
 */
public final class SmallFiles {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final LogDirFailureChannel FAILURES = new LogDirFailureChannel(100_000);

    private SmallFiles() {}

    public static void main(String[] args) throws Exception {
        Path root = Files.createTempDirectory("mirrorpid-small-files-");
        Path partition = Files.createDirectory(root.resolve("orders-0"));
        PrintStream stdout = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                JsonNode given = JSON.readTree(line);
                stdout.println(JSON.writeValueAsString(answer(given, partition)));
            }
        } finally {
            OraclePartition.delete(root);
        }
        stdout.flush();
    }

    private static JsonNode answer(JsonNode given, Path partition) throws Exception {
        String kind = given.get("kind").asText();
        File file = switch (kind) {
            case "epochs" -> LeaderEpochCheckpointFile.newFile(partition.toFile());
            case "partition" -> PartitionMetadataFile.newFile(partition.toFile());
            default -> partition.resolveSibling(kind).toFile();
        };
        Files.write(file.toPath(), given.get("content").binaryValue());
        ArrayNode values = JSON.createArrayNode();
        try {
            switch (kind) {
                case "offsets" -> offsets(file, values);
                case "epochs" -> epochs(file, values);
                case "partition" -> values.add(new PartitionMetadataFile(file, FAILURES).read().topicId().toString());
                case "meta" -> {
                    Properties properties = PropertiesUtils.readPropertiesFile(file.getPath());
                    values.add(new MetaProperties.Builder(properties).build().clusterId().orElse(null));
                }
                case "properties" -> {
                    Properties properties = PropertiesUtils.readPropertiesFile(file.getPath());
                    new TreeMap<>(properties).forEach((key, value) -> values.add(key + "\0" + value));
                }
                default -> throw new IllegalArgumentException(kind);
            }
            return values;
        } catch (Exception e) {
            ObjectNode error = JSON.createObjectNode();
            error.put("error", Judge.message(e));
            return error;
        }
    }

    private static void offsets(File file, ArrayNode values) throws Exception {
        TreeMap<String, Long> known = new TreeMap<>();
        new OffsetCheckpointFile(file, FAILURES).read().forEach((key, offset) -> known.put(key.toString(), offset));
        known.forEach((key, offset) -> values.add(key + " " + offset));
    }

    private static void epochs(File file, ArrayNode values) throws Exception {
        LeaderEpochCheckpointFile checkpoint = new LeaderEpochCheckpointFile(file, FAILURES);
        LeaderEpochFileCache cache =
                new LeaderEpochFileCache(new TopicPartition("orders", 0), checkpoint, new InlineScheduler());
        for (EpochEntry entry : cache.epochEntries()) {
            values.add(entry.epoch() + " " + entry.startOffset());
        }
    }
}
