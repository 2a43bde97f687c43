package mirrorpid.kafka;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/** Transactions: committed, aborted, left open, and across segments. */
final class TransactionScenarios {
    private TransactionScenarios() {}

    /** With transaction.version 2, the default of new clusters: a marker has the next epoch, sequences start anew. */
    static Scenario interleaved(Broker broker) throws ExecutionException, InterruptedException {
        return interleaved(broker, "transactions", 2);
    }

    /** As before Kafka 4.0, and after an upgrade from there: a marker keeps the epoch, sequences go on. */
    static Scenario oldProtocol(Broker broker) throws ExecutionException, InterruptedException {
        broker.transactionVersion((short) 1);
        return interleaved(broker, "transactions-v1", 1);
    }

    private static Scenario interleaved(Broker broker, String topic, int version)
            throws ExecutionException, InterruptedException {
        Scenario scenario = new Scenario(
                broker,
                topic,
                "three transactional producers and an idempotent one, interleaved; committed and aborted transactions,"
                        + " and one left open; transaction.version " + version,
                Map.of());
        Producer red = scenario.transactional("red");
        Producer green = scenario.transactional("green", "compression.type", "lz4");
        Producer blue = scenario.transactional("blue");
        Producer idempotent = scenario.idempotent("idempotent");
        red.begin();
        red.batch(Item.of("r1", "red, committed"), Item.of("r2", "red, committed"));
        idempotent.batch(Item.of("i1", "outside"), Item.of("i2", "outside"), Item.of("i3", "outside"));
        green.begin();
        green.batch(Item.of("g1", "green, aborted"), Item.of(null, "green, aborted"));
        red.batch(Item.of("r3", "red, committed"));
        green.abort();
        blue.begin();
        blue.batch(Item.of("b1", "blue, aborted"));
        red.commit();
        idempotent.batch(Item.of("i4", "outside"));
        green.begin();
        green.batch(Item.of("g2", "green, committed").with("h", "1"), Item.of("g3", null));
        blue.batch(Item.of("b2", "blue, aborted"), Item.of("b3", "blue, aborted"));
        blue.abort();
        red.begin();
        red.batch(Item.of("r4", "red, aborted"));
        green.commit();
        red.abort();
        red.begin();
        red.batch(Item.of("r5", "red, committed"));
        red.commit();
        blue.begin();
        blue.batch(Item.of("b4", "blue, left open"), Item.of("b5", "blue, left open"));
        green.begin();
        green.batch(Item.of("g4", "green, aborted while blue is open"));
        idempotent.batch(Item.of("i5", "outside"), Item.of("i6", "outside"));
        green.abort();
        red.begin();
        red.batch(Item.of("r6", "red, committed while blue is open"));
        red.commit();
        blue.batch(Item.of("b6", "blue, left open"));
        scenario.step("blue's transaction is never ended");
        scenario.close();
        return scenario;
    }

    static Scenario acrossSegments(Broker broker) throws ExecutionException, InterruptedException {
        Scenario scenario = acrossSegments(broker, "segments", "");
        scenario.close();
        return scenario;
    }

    static Scenario crashed(Broker broker) throws ExecutionException, InterruptedException, IOException {
        Scenario scenario = acrossSegments(
                broker, "crashed", "; as a crash leaves it: the last indexes have a zero tail, no last snapshot");
        scenario.copyWhileRunning();
        scenario.close();
        return scenario;
    }

    private static Scenario acrossSegments(Broker broker, String topic, String more)
            throws ExecutionException, InterruptedException {
        Scenario scenario = new Scenario(
                broker,
                topic,
                "four segments; a committed and an aborted transaction that span them, idempotent and plain data"
                        + more,
                Map.of("segment.ms", "600000", "message.timestamp.after.max.ms", "86400000"));
        Producer plain = scenario.plain("plain");
        Producer idempotent = scenario.idempotent("idempotent", "compression.type", "zstd");
        Producer red = scenario.transactional("red");
        Producer green = scenario.transactional("green");
        Producer blue = scenario.transactional("blue", "compression.type", "snappy");
        plain.batch(Item.of("p1", "first segment"), Item.of("p2", "first segment"));
        idempotent.batch(Item.of("i1", "first segment"), Item.of("i2", "first segment"));
        red.begin();
        red.batch(Item.of("r1", "committed in the third segment"));
        green.begin();
        green.batch(Item.of("g1", "aborted in the second segment"), Item.of("g2", "aborted in the second segment"));

        nextSegment(scenario);
        idempotent.batch(Item.of("i3", "second segment"), Item.of("i4", "second segment"));
        red.batch(Item.of("r2", "committed in the third segment"));
        green.abort();
        blue.begin();
        blue.batch(Item.of("b1", "aborted in the fourth segment"));

        nextSegment(scenario);
        plain.batch(Item.of("p3", "third segment"));
        red.batch(Item.of("r3", "committed in the third segment"));
        red.commit();
        blue.batch(Item.of("b2", "aborted in the fourth segment"), Item.of("b3", "aborted in the fourth segment"));
        green.begin();
        green.batch(Item.of("g3", "committed in the third segment"));
        green.commit();

        nextSegment(scenario);
        idempotent.batch(Item.of("i5", "fourth segment"));
        blue.abort();
        red.begin();
        red.batch(Item.of("r4", "aborted in the fourth segment"));
        red.abort();
        plain.batch(Item.of("p4", "fourth segment"), Item.of("p5", "fourth segment"));
        return scenario;
    }

    /** Markers carry the broker's own time, which is behind: only the next data batch rolls the segment. */
    private static void nextSegment(Scenario scenario) {
        scenario.passTime(1_200_000);
    }

    static Scenario acrossRestarts(Broker broker) throws ExecutionException, InterruptedException {
        Scenario scenario = new Scenario(
                broker,
                "restarted",
                "three leader epochs: the broker restarts twice, each time with a transaction open",
                Map.of());
        Producer red = scenario.transactional("red");
        Producer green = scenario.transactional("green");
        Producer idempotent = scenario.idempotent("idempotent");
        idempotent.batch(Item.of("i1", "first epoch"), Item.of("i2", "first epoch"));
        red.begin();
        red.batch(Item.of("r1", "committed after the restart"));
        restart(scenario);
        idempotent.batch(Item.of("i3", "second epoch"));
        red.batch(Item.of("r2", "committed after the restart"));
        red.commit();
        green.begin();
        green.batch(Item.of("g1", "aborted after the restart"), Item.of("g2", "aborted after the restart"));
        restart(scenario);
        green.abort();
        idempotent.batch(Item.of("i4", "third epoch"));
        scenario.close();
        return scenario;
    }

    private static void restart(Scenario scenario) {
        scenario.broker().restart();
        scenario.step("the broker restarts");
    }
}
