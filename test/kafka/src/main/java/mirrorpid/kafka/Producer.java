package mirrorpid.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Kafka's own producer, which sends what it is told as exactly one batch and writes the step down. */
final class Producer {
    private final Scenario scenario;
    private final String name;
    private final KafkaProducer<byte[], byte[]> client;
    private boolean inTransaction;
    /** Whether the transaction has data in the scenario's own partition, and so gets a marker there. */
    private boolean markerDue;

    Producer(Scenario scenario, String name, Map<String, String> settings) {
        this.scenario = scenario;
        this.name = name;
        Map<String, Object> all = new HashMap<>(settings);
        all.put("bootstrap.servers", scenario.broker().bootstrap());
        all.put("client.id", scenario.topic() + "-" + name);
        // Only flush() ends a batch.
        all.put("linger.ms", "30000");
        all.put("batch.size", "500000");
        this.client = new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
        if (settings.containsKey("transactional.id")) {
            client.initTransactions();
        }
    }

    /** All records in one batch, at consecutive offsets; returns the first. */
    long batch(Item... items) throws ExecutionException, InterruptedException {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (Item item : items) {
            sent.add(client.send(new ProducerRecord<>(
                    scenario.topic(), 0, scenario.tick(), item.key(), item.value(), item.headers())));
        }
        client.flush();
        long first = sent.get(0).get().offset();
        long last = sent.get(sent.size() - 1).get().offset();
        if (last - first + 1 != items.length) {
            throw new IllegalStateException(name + ": not one batch, offsets " + first + " to " + last);
        }
        scenario.appended(last);
        markerDue = inTransaction;
        scenario.step(name + " sends " + items.length + (items.length == 1 ? " record" : " records") + " at offset "
                + first + (inTransaction ? " in its transaction" : ""));
        return first;
    }

    void begin() {
        client.beginTransaction();
        inTransaction = true;
        scenario.step(name + " begins a transaction");
    }

    void commit() throws ExecutionException, InterruptedException {
        client.commitTransaction();
        ended("commits");
    }

    void abort() throws ExecutionException, InterruptedException {
        client.abortTransaction();
        ended("aborts");
    }

    private void ended(String how) throws ExecutionException, InterruptedException {
        inTransaction = false;
        String where = markerDue ? ", marker at offset " + scenario.awaitMarker() : "";
        markerDue = false;
        scenario.step(name + " " + how + where);
    }

    void commitOffsets(ConsumerGroupMetadata group, long offset) {
        client.sendOffsetsToTransaction(
                Map.of(new TopicPartition(scenario.topic(), 0), new OffsetAndMetadata(offset)), group);
        scenario.step(name + " adds the offset " + offset + " of group " + group.groupId() + " to its transaction");
    }

    /** With a transaction open, leaves without a word to the broker: an orderly close would abort it. */
    void close() {
        client.close(inTransaction ? Duration.ZERO : Duration.ofSeconds(30));
    }
}
