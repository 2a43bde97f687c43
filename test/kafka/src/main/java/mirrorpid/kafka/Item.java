package mirrorpid.kafka;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** What a test record holds; null keys and values are the format's null. */
record Item(byte[] key, byte[] value, List<Header> headers) {
    static Item of(String key, String value) {
        return new Item(bytes(key), bytes(value), List.of());
    }

    static Item of(byte[] key, byte[] value) {
        return new Item(key, value, List.of());
    }

    static Item tombstone(String key) {
        return new Item(bytes(key), null, List.of());
    }

    /** Names and values in turn; a null value is a null header value. */
    Item with(String... namesAndValues) {
        RecordHeader[] all = new RecordHeader[namesAndValues.length / 2];
        for (int i = 0; i < all.length; i++) {
            all[i] = new RecordHeader(namesAndValues[2 * i], bytes(namesAndValues[2 * i + 1]));
        }
        return new Item(key, value, List.of(all));
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }
}
