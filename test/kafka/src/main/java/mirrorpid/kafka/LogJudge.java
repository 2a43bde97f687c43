package mirrorpid.kafka;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.util.Iterator;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.FileLogInputStream.FileChannelRecordBatch;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.Record;

/** One segment: every batch as FileRecords yields it, in file order, and the counts over all of them. */
final class LogJudge {
    private LogJudge() {}

    static void judge(File file, ObjectNode result) throws IOException {
        ArrayNode batches = result.putArray("batches");
        SegmentFacts facts = new SegmentFacts();
        if (file.isFile()) {
            read(file, result, batches, facts);
        }
        result.put("bytes", file.length());
        facts.write(result.putObject("facts"));
        Judge.requireFile(file);
    }

    private static void read(File file, ObjectNode result, ArrayNode batches, SegmentFacts facts) throws IOException {
        try (FileRecords log = FileRecords.open(file, false)) {
            Iterator<FileChannelRecordBatch> iterator = log.batches().iterator();
            while (iterator.hasNext()) {
                FileChannelRecordBatch batch = iterator.next();
                describe(batch, batches.addObject(), facts);
            }
        } catch (RuntimeException e) {
            // Framing is lost here: what was read so far stands.
            result.put("error", Judge.message(e));
        }
    }

    private static void describe(FileChannelRecordBatch batch, ObjectNode out, SegmentFacts facts) {
        out.put("position", batch.position());
        out.put("sizeInBytes", batch.sizeInBytes());
        out.put("magic", batch.magic());
        try {
            out.put("isValid", batch.isValid());
            out.put("checksum", batch.checksum());
            out.put("baseOffset", Long.toString(batch.baseOffset()));
            out.put("lastOffset", Long.toString(batch.lastOffset()));
            out.put("count", batch.countOrNull());
            out.put("partitionLeaderEpoch", batch.partitionLeaderEpoch());
            out.put("producerId", Long.toString(batch.producerId()));
            out.put("producerEpoch", batch.producerEpoch());
            out.put("baseSequence", batch.baseSequence());
            out.put("lastSequence", batch.lastSequence());
            out.put("hasProducerId", batch.hasProducerId());
            out.put("isTransactional", batch.isTransactional());
            out.put("isControl", batch.isControlBatch());
            out.put("maxTimestamp", Long.toString(batch.maxTimestamp()));
            out.put("timestampType", batch.timestampType().name);
            if (batch.deleteHorizonMs().isPresent()) {
                out.put("deleteHorizonMs", Long.toString(batch.deleteHorizonMs().getAsLong()));
            } else {
                out.putNull("deleteHorizonMs");
            }
            out.put("compressionType", batch.compressionType().name);
            records(batch, out);
            facts.add(batch, out);
        } catch (RuntimeException e) {
            // A header that Kafka cannot read (undefined codec, short frame): the next batch is still framed.
            out.put("error", Judge.message(e));
        }
    }

    /** Reading the records too decompresses and parses the whole payload, which a CRC made afresh would hide. */
    private static void records(FileChannelRecordBatch batch, ObjectNode out) {
        int records = 0;
        ArrayNode controlTypes = out.putArray("controlTypes");
        try {
            for (Record record : batch) {
                records++;
                if (batch.isControlBatch()) {
                    controlTypes.add(ControlRecordType.parse(record.key()).name());
                }
            }
        } catch (RuntimeException e) {
            out.put("recordsError", Judge.message(e));
        }
        out.put("records", records);
    }
}
