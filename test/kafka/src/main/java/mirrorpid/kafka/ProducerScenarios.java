package mirrorpid.kafka;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/** Without transactions: every codec, and several producers on one partition. */
final class ProducerScenarios {
    private ProducerScenarios() {}

    static Scenario plain(Broker broker) throws ExecutionException, InterruptedException {
        Scenario scenario = new Scenario(
                broker, "plain", "a producer without idempotence, uncompressed: every producer id is -1", Map.of());
        Producer producer = scenario.plain("plain");
        mixedBatches(producer, 0);
        scenario.close();
        return scenario;
    }

    /** The broker overwrites maxTimestamp and an attribute bit of every batch, and so its CRC. */
    static Scenario appendTime(Broker broker) throws ExecutionException, InterruptedException {
        Scenario scenario = new Scenario(
                broker,
                "append-time",
                "an idempotent producer, gzip, on a topic whose timestamps are the broker's (LogAppendTime)",
                Map.of("message.timestamp.type", "LogAppendTime"));
        mixedBatches(scenario.idempotent("idempotent", "compression.type", "gzip"), 0);
        scenario.close();
        return scenario;
    }

    static Scenario idempotent(Broker broker, String codec) throws ExecutionException, InterruptedException {
        Scenario scenario = new Scenario(
                broker,
                "idempotent-" + codec,
                "an idempotent producer, compression.type " + codec + ": keys, null keys, null values, headers",
                Map.of());
        Producer producer = scenario.idempotent("idempotent", "compression.type", codec);
        mixedBatches(producer, blockSize(codec));
        scenario.close();
        return scenario;
    }

    /** Enough for a second block where the codec cuts the payload into blocks. */
    private static int blockSize(String codec) {
        return switch (codec) {
            case "snappy" -> 32 * 1024;
            case "lz4" -> 64 * 1024;
            default -> 0;
        };
    }

    private static void mixedBatches(Producer producer, int blockSize)
            throws ExecutionException, InterruptedException {
        producer.batch(
                Item.of("k1", "a first value"), Item.of("k2", "a second value"), Item.of("k3", "a third value"));
        producer.batch(
                Item.of(null, "no key"),
                Item.of("no value", null),
                Item.of((String) null, null),
                Item.of("", ""),
                Item.of("headers", "several").with("h1", "one", "h2", null, "h1", "again", "empty", ""));
        Item[] many = new Item[12];
        for (int i = 0; i < many.length; i++) {
            many[i] = Item.of("key " + i, ("value " + i + ", much the same as the others; ").repeat(2));
        }
        producer.batch(many);
        producer.batch(
                Item.of("text", "Übergröße, 雪, 🦆"),
                Item.of("not text".getBytes(StandardCharsets.UTF_8), new byte[] {0x41, (byte) 0xff, 0x42}));
        if (blockSize > 0) {
            // In a header, because dumps print values: they would be a hundred times the size of the segment.
            String line = "a line that fills the codec's block. ";
            producer.batch(Item.of("large", "in the header").with("bulk", line.repeat(blockSize / line.length() + 20)));
        }
        producer.batch(Item.of("last", "one record alone").with("trace", "0123456789abcdef"));
    }

    static Scenario producers(Broker broker) throws ExecutionException, InterruptedException {
        Scenario scenario = new Scenario(
                broker, "producers", "three idempotent producers and a plain one, interleaved", Map.of());
        Producer[] all = {
            scenario.idempotent("red"),
            scenario.idempotent("green", "compression.type", "gzip"),
            scenario.plain("plain"),
            scenario.idempotent("blue", "compression.type", "zstd"),
        };
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < all.length; i++) {
                // Not the same order every round, and batches of different sizes.
                Item[] items = new Item[1 + (round + i) % 3];
                for (int n = 0; n < items.length; n++) {
                    items[n] = Item.of("key " + i, "round " + round + ", record " + n);
                }
                all[(round * 3 + i) % all.length].batch(items);
            }
        }
        scenario.close();
        return scenario;
    }
}
