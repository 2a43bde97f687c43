package mirrorpid.kafka;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.FeatureUpdate.UpgradeType;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;

/** One combined broker and controller (KRaft) on loopback, inside this JVM: it cannot outlive it. */
final class Broker implements AutoCloseable {
    private final String bootstrap;
    private final Path logDir;
    private final Properties settings;
    private KafkaRaftServer server;

    Broker(Path work) throws IOException {
        int[] ports = freePorts();
        bootstrap = "127.0.0.1:" + ports[0];
        logDir = work.resolve("kafka-logs");
        settings = settings(logDir, ports[0], ports[1]);
        format(work, settings);
        start();
    }

    void start() {
        server = new KafkaRaftServer(KafkaConfig.fromProps(settings), Time.SYSTEM);
        server.startup();
    }

    /** As it is at this moment; answers where the copy is, relative to the work directory. */
    String copyPartition(String partition) throws IOException {
        String name = "copies/" + partition;
        Path to = logDir.resolveSibling(name);
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(logDir.resolve(partition))) {
            // A running broker replaces its checkpoints by way of these.
            for (Path file : files.filter(f -> !f.toString().endsWith(".tmp")).toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
        return name;
    }

    /** Every start is an election, and so the next leader epoch. */
    void restart() {
        close();
        start();
    }

    /** With copies of what the broker has written itself, after a clean shutdown and while it is still small. */
    void restartAndKeep(List<String> partitions) throws IOException {
        close();
        for (String partition : partitions) {
            copyPartition(partition);
        }
        start();
    }

    String bootstrap() {
        return bootstrap;
    }

    Path logDir() {
        return logDir;
    }

    /** The level of the transaction.version feature that producers see from now on. */
    void transactionVersion(short level) throws ExecutionException, InterruptedException {
        String feature = "transaction.version";
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            FeatureUpdate update = new FeatureUpdate(level, UpgradeType.SAFE_DOWNGRADE);
            admin.updateFeatures(Map.of(feature, update), new UpdateFeaturesOptions()).all().get();
            for (int tries = 0; tries < 600; tries++) {
                var features = admin.describeFeatures().featureMetadata().get().finalizedFeatures();
                if (features.get(feature).maxVersionLevel() == level) {
                    return;
                }
                Thread.sleep(50);
            }
        }
        throw new IllegalStateException(feature + " has not become " + level + " in 30 s");
    }

    /** A clean shutdown: it trims the index files, writes a producer snapshot and marks the log directory as clean. */
    @Override
    public void close() {
        server.shutdown();
        server.awaitShutdown();
    }

    private static Properties settings(Path logDir, int port, int controllerPort) {
        Properties p = new Properties();
        p.put("process.roles", "broker,controller");
        p.put("node.id", "1");
        p.put("controller.quorum.bootstrap.servers", "127.0.0.1:" + controllerPort);
        p.put("listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort);
        // Without these Kafka asks the machine for its name, and the name ends up in the metadata log.
        p.put("advertised.listeners", p.get("listeners"));
        p.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        p.put("controller.listener.names", "CONTROLLER");
        p.put("log.dirs", logDir.toString());
        p.put("auto.create.topics.enable", "false");
        for (String topic : new String[] {"offsets.topic", "transaction.state.log", "share.coordinator.state.topic"}) {
            p.put(topic + ".replication.factor", "1");
        }
        p.put("transaction.state.log.min.isr", "1");
        p.put("share.coordinator.state.topic.min.isr", "1");
        p.put("offsets.topic.num.partitions", "1");
        p.put("transaction.state.log.num.partitions", "1");
        p.put("group.initial.rebalance.delay.ms", "0");
        // Small files: the indexes are preallocated while a segment is active.
        p.put("log.index.size.max.bytes", "4096");
        p.put("log.preallocate", "false");
        // The controller would write a NoOp record every 500 ms.
        p.put("metadata.max.idle.interval.ms", "5000");
        p.put("log.cleaner.backoff.ms", "100");
        p.put("log.cleaner.min.cleanable.ratio", "0.01");
        p.put("log.cleaner.dedupe.buffer.size", "4194304");
        p.put("log.segment.delete.delay.ms", "100");
        return p;
    }

    private static void format(Path work, Properties settings) throws IOException {
        Path file = work.resolve("server.properties");
        try (Writer writer = Files.newBufferedWriter(file)) {
            settings.store(writer, null);
        }
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        String[] args = {
            "format", "--cluster-id", Uuid.randomUuid().toString(), "--config", file.toString(), "--standalone"
        };
        int status = StorageTool.execute(args, new PrintStream(said, true, StandardCharsets.UTF_8));
        if (status != 0) {
            throw new IOException("formatting the storage failed: " + said.toString(StandardCharsets.UTF_8));
        }
    }

    /** Both are held at once, or the system might hand out the same port twice. */
    private static int[] freePorts() throws IOException {
        InetAddress loopback = InetAddress.getByName("127.0.0.1");
        try (ServerSocket first = new ServerSocket(0, 1, loopback);
                ServerSocket second = new ServerSocket(0, 1, loopback)) {
            return new int[] {first.getLocalPort(), second.getLocalPort()};
        }
    }
}
