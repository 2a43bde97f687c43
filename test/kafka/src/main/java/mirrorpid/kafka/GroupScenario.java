package mirrorpid.kafka;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Consumer groups and offsets committed in transactions, for the sake of what the brokers write themselves. */
final class GroupScenario {
    private GroupScenario() {}

    static Scenario run(Broker broker) throws ExecutionException, InterruptedException, IOException {
        Scenario scenario = new Scenario(
                broker, "grouped", "what the coordinators write for two consumer groups and for transactions", Map.of());
        Producer producer = scenario.transactional("mover");
        ConsumerGroupMetadata moved;
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(scenario, "moved", "classic")) {
            moved = consumer.groupMetadata();
        }
        producer.begin();
        producer.batch(Item.of("a", "1"), Item.of("b", "2"));
        producer.commitOffsets(moved, 10);
        producer.commit();
        consume(scenario, "classic");
        producer.begin();
        producer.commitOffsets(moved, 20);
        producer.commitOffsets(moved, 30);
        producer.abort();
        producer.begin();
        producer.commitOffsets(moved, 40);
        producer.commit();
        consume(scenario, "consumer");
        producer.begin();
        producer.commitOffsets(moved, 50);
        scenario.step("the last transaction is never ended");
        scenario.close();
        broker.restartAndKeep(List.of("__cluster_metadata-0", "__consumer_offsets-0", "__transaction_state-0"));
        return scenario;
    }

    private static void consume(Scenario scenario, String protocol) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(scenario, protocol + "-group", protocol)) {
            consumer.subscribe(List.of(scenario.topic()));
            for (int tries = 0; tries < 300; tries++) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(100));
                if (!records.isEmpty()) {
                    consumer.commitSync();
                    scenario.step("a consumer of protocol " + protocol + " reads " + records.count()
                            + " records, commits and leaves");
                    return;
                }
            }
        }
        throw new IllegalStateException("the " + protocol + " consumer has read nothing in 30 s");
    }

    private static KafkaConsumer<byte[], byte[]> consumer(Scenario scenario, String group, String protocol) {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", scenario.broker().bootstrap(),
                "group.id", group,
                "client.id", protocol + "-reader",
                "group.protocol", protocol,
                "auto.offset.reset", "earliest",
                "enable.auto.commit", "false");
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }
}
