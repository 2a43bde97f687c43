package mirrorpid.kafka;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/**
 * One topic of one partition and all that is done to it. Every step is written down as it happens, with the offsets
 * the broker gave, and goes into the manifest.
 */
final class Scenario implements AutoCloseable {
    /** Kafka rolls a segment by record time: the scenarios move this clock, nobody has to wait. */
    private long now = System.currentTimeMillis();

    private final Broker broker;
    private final String topic;
    private final String holds;
    private final Map<String, String> topicSettings = new TreeMap<>();
    private final Map<String, Map<String, String>> producers = new LinkedHashMap<>();
    private final List<String> steps = new ArrayList<>();
    private final List<Producer> open = new ArrayList<>();
    private final Admin admin;
    /** The offset that the partition's next record gets. */
    private long end;

    private String directory;

    Scenario(Broker broker, String topic, String holds, Map<String, String> settings)
            throws ExecutionException, InterruptedException {
        this.broker = broker;
        this.topic = topic;
        this.holds = holds;
        this.directory = "kafka-logs/" + topic + "-0";
        topicSettings.put("cleanup.policy", "delete");
        topicSettings.put("retention.ms", "-1");
        // An index entry for every batch or two, so that the small files have something in them.
        topicSettings.put("index.interval.bytes", "200");
        topicSettings.putAll(settings);
        admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()));
        admin.createTopics(Set.of(new NewTopic(topic, 1, (short) 1).configs(topicSettings))).all().get();
    }

    String topic() {
        return topic;
    }

    Broker broker() {
        return broker;
    }

    void step(String text) {
        steps.add(text);
    }

    Producer plain(String name, String... settings) {
        return add(name, Map.of("enable.idempotence", "false", "acks", "all"), settings);
    }

    Producer idempotent(String name, String... settings) {
        return add(name, Map.of("enable.idempotence", "true"), settings);
    }

    Producer transactional(String name, String... settings) {
        // The coordinator would abort the transaction that is left open after the default minute.
        return add(
                name, Map.of("transactional.id", topic + "-" + name, "transaction.timeout.ms", "900000"), settings);
    }

    private Producer add(String name, Map<String, String> base, String[] settings) {
        Map<String, String> all = new TreeMap<>(base);
        for (int i = 0; i < settings.length; i += 2) {
            all.put(settings[i], settings[i + 1]);
        }
        producers.put(name, all);
        Producer producer = new Producer(this, name, all);
        open.add(producer);
        return producer;
    }

    long tick() {
        return ++now;
    }

    void appended(long lastOffset) {
        end = lastOffset + 1;
    }

    /**
     * The coordinator writes a marker some time after it has answered the client. Waiting for it keeps the order of
     * the batches the same in every run.
     */
    long awaitMarker() throws ExecutionException, InterruptedException {
        TopicPartition partition = new TopicPartition(topic, 0);
        for (int tries = 0; tries < 600; tries++) {
            if (admin.listOffsets(Map.of(partition, OffsetSpec.latest())).partitionResult(partition).get().offset()
                    > end) {
                return end++;
            }
            Thread.sleep(50);
        }
        throw new IllegalStateException(topic + ": no transaction marker at offset " + end + " after 30 s");
    }

    void passTime(long millis) {
        now += millis;
        step("the clock of the records moves on by " + millis + " ms");
    }

    /** What a crash would leave: no clean shutdown has trimmed the indexes or written a last snapshot. */
    void copyWhileRunning() throws IOException {
        directory = broker.copyPartition(topic + "-0");
        step("the directory is copied while the broker runs");
    }

    @Override
    public void close() {
        open.forEach(Producer::close);
        admin.close();
    }

    ObjectNode describe(ObjectMapper json) {
        ObjectNode out = json.createObjectNode();
        out.put("directory", directory);
        out.put("holds", holds);
        out.set("topicSettings", json.valueToTree(topicSettings));
        out.set("producers", json.valueToTree(producers));
        out.set("steps", json.valueToTree(steps));
        return out;
    }
}
