package mirrorpid.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.record.internal.FileLogInputStream.FileChannelRecordBatch;

/** Counts over a segment that tests compare with the manifest. */
final class SegmentFacts {
    private int batches;
    private int validBatches;
    private int records;
    private int controlBatches;
    private int transactionalBatches;
    private int emptyBatches;
    private int deleteHorizonBatches;
    private int gapsBetweenBatches;
    private int gapsInsideBatches;
    private long firstOffset = -1;
    private long lastOffset = -1;
    private long validBytes;
    private final TreeSet<Long> producerIds = new TreeSet<>();
    private final TreeMap<String, Integer> codecs = new TreeMap<>();
    private final TreeMap<String, Integer> controlTypes = new TreeMap<>();

    void add(FileChannelRecordBatch batch, ObjectNode judged) {
        if (batches == 0) {
            firstOffset = batch.baseOffset();
        } else if (batch.baseOffset() != lastOffset + 1) {
            gapsBetweenBatches++;
        }
        batches++;
        lastOffset = batch.lastOffset();
        validBytes = batch.position() + batch.sizeInBytes();
        validBatches += batch.isValid() ? 1 : 0;
        controlBatches += batch.isControlBatch() ? 1 : 0;
        transactionalBatches += batch.isTransactional() ? 1 : 0;
        deleteHorizonBatches += batch.deleteHorizonMs().isPresent() ? 1 : 0;
        records += judged.get("records").asInt();
        Integer count = batch.countOrNull();
        if (count != null) {
            emptyBatches += count == 0 ? 1 : 0;
            gapsInsideBatches += count > 0 && count < batch.lastOffset() - batch.baseOffset() + 1 ? 1 : 0;
        }
        producerIds.add(batch.producerId());
        codecs.merge(batch.compressionType().name, 1, Integer::sum);
        for (JsonNode type : judged.get("controlTypes")) {
            controlTypes.merge(type.asText(), 1, Integer::sum);
        }
    }

    void write(ObjectNode out) {
        out.put("batches", batches);
        out.put("validBatches", validBatches);
        out.put("records", records);
        out.put("validBytes", validBytes);
        out.put("firstOffset", Long.toString(firstOffset));
        out.put("lastOffset", Long.toString(lastOffset));
        ArrayNode ids = out.putArray("producerIds");
        producerIds.forEach(id -> ids.add(Long.toString(id)));
        out.put("controlBatches", controlBatches);
        out.put("transactionalBatches", transactionalBatches);
        out.put("emptyBatches", emptyBatches);
        out.put("deleteHorizonBatches", deleteHorizonBatches);
        out.put("gapsBetweenBatches", gapsBetweenBatches);
        out.put("gapsInsideBatches", gapsInsideBatches);
        ObjectNode codecCounts = out.putObject("codecs");
        codecs.forEach(codecCounts::put);
        ObjectNode controlCounts = out.putObject("controlTypes");
        controlTypes.forEach(controlCounts::put);
    }
}
