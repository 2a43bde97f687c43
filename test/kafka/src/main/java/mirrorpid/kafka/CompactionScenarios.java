package mirrorpid.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/** Compacted topics, after the log cleaner has really run. */
final class CompactionScenarios {
    private CompactionScenarios() {}

    /** Tombstones and markers stay for a day after the first pass, with a delete horizon in their batches. */
    static Scenario once(Broker broker) throws ExecutionException, InterruptedException, IOException {
        Scenario scenario = new Scenario(
                broker,
                "compacted",
                "a compacted log after one pass of the cleaner: gaps between and inside batches, the retained empty"
                        + " batch of a producer that is still active, transactions, a tombstone with its delete horizon",
                settings("86400000"));
        write(scenario);
        scenario.close();
        return scenario;
    }

    /**
     * The first pass removes the data of the aborted transaction, the second one finds a marker without data and gives
     * it a horizon, the third one removes what has expired. Of a producer's last marker, an empty batch remains.
     */
    static Scenario thrice(Broker broker) throws ExecutionException, InterruptedException, IOException {
        Scenario scenario = new Scenario(
                broker,
                "compacted-thrice",
                "as compacted, without retention and after two more passes of the cleaner: the tombstone and a marker"
                        + " are gone, an empty control batch is left",
                settings("0"));
        Producer plain = write(scenario);
        for (int pass = 2; pass <= 3; pass++) {
            plain.batch(Item.of("n1", "for pass " + pass));
            clean(scenario, plain);
        }
        scenario.close();
        return scenario;
    }

    private static Map<String, String> settings(String deleteRetention) {
        return Map.of(
                "cleanup.policy", "compact",
                "min.cleanable.dirty.ratio", "0.01",
                "delete.retention.ms", deleteRetention,
                "segment.ms", "600000",
                "message.timestamp.after.max.ms", "86400000");
    }

    private static Producer write(Scenario scenario) throws ExecutionException, InterruptedException, IOException {
        Producer early = scenario.idempotent("early");
        Producer late = scenario.idempotent("late", "compression.type", "gzip");
        Producer transactional = scenario.transactional("transactional");
        Producer plain = scenario.plain("plain");
        early.batch(Item.of("k1", "old"), Item.of("k2", "kept"), Item.of("k3", "old"), Item.of("k4", "old"));
        early.batch(Item.of("k5", "old"), Item.of("k6", "old"), Item.of("k7", "old"));
        scenario.step("early stays connected and never writes again");
        late.batch(
                Item.of("k1", "new"),
                Item.of("k3", "new"),
                Item.of("k5", "new"),
                Item.of("k6", "new"),
                Item.of("k7", "new").with("h", "kept"));
        plain.batch(Item.of("n1", "old"), Item.of("n2", "kept"), Item.of("n1", "newer"));
        late.batch(Item.of("m1", "old"), Item.of("m2", "old"));
        transactional.begin();
        transactional.batch(Item.of("t1", "kept"), Item.of("t2", "old"), Item.of("t3", "kept"));
        transactional.commit();
        transactional.begin();
        transactional.batch(Item.of("t1", "aborted"), Item.of("k2", "aborted"));
        transactional.abort();
        late.batch(Item.of("m1", "new"), Item.of("m2", "new"), Item.tombstone("k4"), Item.of("n3", "kept"));
        plain.batch(Item.of("t2", "new, from outside"));
        clean(scenario, plain);
        return plain;
    }

    /** The cleaner leaves the active segment alone, so everything so far has to be in an older one. */
    private static void clean(Scenario scenario, Producer plain)
            throws ExecutionException, InterruptedException, IOException {
        scenario.passTime(1_200_000);
        long active = plain.batch(Item.of("active", "a new segment"));
        Path checkpoint = scenario.broker().logDir().resolve("cleaner-offset-checkpoint");
        String prefix = scenario.topic() + " 0 ";
        for (int tries = 0; tries < 600; tries++) {
            if (Files.exists(checkpoint)) {
                for (String line : Files.readAllLines(checkpoint)) {
                    if (line.startsWith(prefix) && Long.parseLong(line.substring(prefix.length())) >= active) {
                        scenario.step("the cleaner has cleaned up to offset " + active);
                        return;
                    }
                }
            }
            Thread.sleep(100);
        }
        throw new IOException(scenario.topic() + ": the cleaner has not reached offset " + active + " in 60 s");
    }
}
