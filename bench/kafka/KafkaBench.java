import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.utils.Crc32C;

/**
 * What Kafka's own classes cost on the record sets of the files given, as contest.ts measures ours: contenders in turn,
 * round after round, a median for each round. Prints one line for each round: file, contender, nanoseconds a batch.
 */
public class KafkaBench {
    private static final int ROUNDS = 7;
    /** Enough for the JIT to be done with all of them. */
    private static final int WARM_UP_ROUNDS = 6;
    private static final long ROUND_NANOS = 80_000_000L;

    private static final int CRC = 17;
    private static final int ATTRIBUTES = 21;
    private static final int PRODUCER_ID = 43;

    private interface Contender {
        /** Returns something, so that the JIT drops nothing. */
        long run();
    }

    private record Named(String name, Contender contender) { }

    public static void main(String[] files) throws Exception {
        for (String file : files) measure(file, Files.readAllBytes(Path.of(file)));
    }

    private static void measure(String file, byte[] original) {
        ByteBuffer records = ByteBuffer.wrap(original.clone());
        int batches = 0;
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(records).batches()) {
            batch.ensureValid();
            batches++;
        }
        rewrite(records);
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(records).batches()) batch.ensureValid();
        rewrite(records);
        if (!records.equals(ByteBuffer.wrap(original))) throw new IllegalStateException("a rewrite does not undo itself");

        List<Named> contenders = List.of(
            new Named("Kafka: Crc32C of every batch", () -> checksum(records)),
            new Named("Kafka: ensureValid", () -> verify(records)),
            new Named("Kafka: producer id and Crc32C", () -> rewrite(records)),
            new Named("Kafka: setMaxTimestamp", () -> setMaxTimestamp(records)),
            new Named("Kafka: ensureValid, then producer id and Crc32C", () -> verify(records) + rewrite(records)));
        long sink = 0;
        for (int round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
            for (Named named : contenders) {
                List<Long> samples = new ArrayList<>();
                long end = System.nanoTime() + ROUND_NANOS;
                do {
                    long began = System.nanoTime();
                    sink += named.contender().run();
                    samples.add(System.nanoTime() - began);
                } while (System.nanoTime() < end);
                samples.sort(null);
                double median = samples.get(samples.size() / 2) / (double) batches;
                if (round >= 0) System.out.println(file + "\t" + named.name() + "\t" + median);
            }
        }
        if (sink == 42) System.out.println();
    }

    private static long checksum(ByteBuffer records) {
        long sum = 0;
        for (int at = 0; at < records.limit(); at += 12 + records.getInt(at + 8)) {
            sum += Crc32C.compute(records, at + ATTRIBUTES, 12 + records.getInt(at + 8) - ATTRIBUTES);
        }
        return sum;
    }

    private static long verify(ByteBuffer records) {
        long count = 0;
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(records).batches()) {
            batch.ensureValid();
            count++;
        }
        return count;
    }

    /** There and back, as the mapping is its own inverse. */
    private static long rewrite(ByteBuffer records) {
        int at = 0;
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(records).batches()) {
            records.putLong(at + PRODUCER_ID, -batch.producerId() - 2);
            int size = batch.sizeInBytes();
            records.putInt(at + CRC, (int) Crc32C.compute(records, at + ATTRIBUTES, size - ATTRIBUTES));
            at += size;
        }
        return at;
    }

    /** What a broker does to a batch in place when it sets a field under the CRC. */
    private static long setMaxTimestamp(ByteBuffer records) {
        long count = 0;
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(records).batches()) {
            batch.setMaxTimestamp(TimestampType.CREATE_TIME, batch.maxTimestamp() + (count % 2 == 0 ? 1 : -1));
            count++;
        }
        return count;
    }
}
