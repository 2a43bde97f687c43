package mirrorpid.kafka;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import org.apache.kafka.storage.internals.log.AbortedTxn;
import org.apache.kafka.storage.internals.log.BatchMetadata;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.TransactionIndex;

/** The two files beside a segment that hold producer ids. */
final class StateFileJudge {
    private StateFileJudge() {}

    static void snapshot(File file, ObjectNode result) throws IOException {
        ArrayNode entries = result.putArray("entries");
        Judge.requireFile(file);
        for (ProducerStateEntry entry : ProducerStateManager.readSnapshot(file)) {
            describe(entry, entries.addObject());
        }
    }

    static void transactionIndex(File file, ObjectNode result) throws IOException {
        ArrayNode entries = result.putArray("entries");
        Judge.requireFile(file);
        String name = file.getName();
        long baseOffset = Long.parseLong(name.substring(0, name.indexOf('.')));
        try (TransactionIndex index = new TransactionIndex(baseOffset, file)) {
            index.sanityCheck();
            for (AbortedTxn txn : index.allAbortedTxns()) {
                describe(txn, entries.addObject());
            }
        }
    }

    static void describe(ProducerStateEntry entry, ObjectNode out) {
        out.put("producerId", Long.toString(entry.producerId()));
        out.put("producerEpoch", entry.producerEpoch());
        out.put("coordinatorEpoch", entry.coordinatorEpoch());
        out.put("lastTimestamp", Long.toString(entry.lastTimestamp()));
        if (entry.currentTxnFirstOffset().isPresent()) {
            out.put("currentTxnFirstOffset", Long.toString(entry.currentTxnFirstOffset().getAsLong()));
        } else {
            out.putNull("currentTxnFirstOffset");
        }
        ArrayNode batches = out.putArray("batches");
        for (BatchMetadata batch : entry.batchMetadata()) {
            ObjectNode metadata = batches.addObject();
            metadata.put("firstSequence", batch.firstSeq());
            metadata.put("lastSequence", batch.lastSeq());
            metadata.put("firstOffset", Long.toString(batch.firstOffset()));
            metadata.put("lastOffset", Long.toString(batch.lastOffset()));
            metadata.put("timestamp", Long.toString(batch.timestamp()));
        }
    }

    static void describe(AbortedTxn txn, ObjectNode out) {
        out.put("version", txn.version());
        out.put("producerId", Long.toString(txn.producerId()));
        out.put("firstOffset", Long.toString(txn.firstOffset()));
        out.put("lastOffset", Long.toString(txn.lastOffset()));
        out.put("lastStableOffset", Long.toString(txn.lastStableOffset()));
    }
}
