package mirrorpid.kafka;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.storage.internals.log.AbortedTxn;
import org.apache.kafka.storage.internals.log.ProducerStateManager;

/** A partition whose producer state is asked. */
interface OraclePartition extends AutoCloseable {
    /** Adds {@code "ok"}, or {@code "duplicate"} and the earlier append's first offset, last offset and timestamp. */
    void append(byte[] records, String origin, short transactionVersion, boolean isZero, ArrayNode result)
            throws IOException;

    void highWatermark(long offset) throws IOException;

    Optional<Long> firstUnstableOffset();

    List<AbortedTxn> aborted() throws IOException;

    ProducerStateManager state();

    @Override
    void close() throws IOException;

    static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
