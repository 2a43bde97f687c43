package mirrorpid.kafka;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A broker whose partition somebody else writes while it is down. Arguments: a work directory and a topic, which is made.
 * Then stdin says {@code start} whenever the broker is to start, let consumers read the whole partition, and stop again;
 * each stop is a line of JSON on stdout, the first one with the partition's directory. The end of stdin ends it.
 */
public final class ForeignLog {
    private static final ObjectMapper JSON = new ObjectMapper();

    private ForeignLog() {}

    public static void main(String[] args) {
        int status = 1;
        PrintStream stdout = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            Broker broker = new Broker(Path.of(args[0]));
            create(broker, args[1]);
            broker.close();
            ObjectNode made = JSON.createObjectNode();
            made.put("directory", broker.logDir().resolve(args[1] + "-0").toString());
            stdout.println(JSON.writeValueAsString(made));
            while (in.readLine() != null) {
                broker.start();
                ObjectNode out = JSON.createObjectNode();
                read(broker, args[1], "read_uncommitted", out);
                read(broker, args[1], "read_committed", out);
                broker.close();
                stdout.println(JSON.writeValueAsString(out));
            }
            status = 0;
        } catch (Exception e) {
            e.printStackTrace();
        } finally {
            // Threads of clients and of the broker would keep the JVM alive.
            System.exit(status);
        }
    }

    private static void create(Broker broker, String topic) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
            NewTopic wanted = new NewTopic(topic, 1, (short) 1).configs(Map.of("retention.ms", "-1"));
            admin.createTopics(Set.of(wanted)).all().get();
        }
    }

    /** Offsets of the records, and the sizes of their values; where the partition begins and ends for this reader. */
    private static void read(Broker broker, String topic, String isolation, ObjectNode out) {
        TopicPartition partition = new TopicPartition(topic, 0);
        Map<String, Object> settings =
                Map.of("bootstrap.servers", broker.bootstrap(), "isolation.level", isolation);
        try (var consumer = new KafkaConsumer<>(
                settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            long begin = consumer.beginningOffsets(List.of(partition)).get(partition);
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            consumer.seek(partition, begin);
            ObjectNode seen = out.putObject(isolation);
            seen.put("begin", begin);
            seen.put("end", end);
            ArrayNode records = seen.putArray("records");
            long patience = System.nanoTime() + 30_000_000_000L;
            while (consumer.position(partition) < end && System.nanoTime() < patience) {
                consumer.poll(Duration.ofMillis(200)).records(partition).forEach(record ->
                        records.add(record.offset() + ":" + (record.value() == null ? -1 : record.value().length)));
            }
        }
    }
}
