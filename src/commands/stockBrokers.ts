/** What becomes of mapped ids on the brokers and clients of today: measured on them, and said by every command that meets some. */
export const ON_STOCK_BROKERS =
  'brokers and clients that exist today (Apache Kafka up to at least 4.3) know neither mapped ids, which are negative, nor ' +
  'MIRROR_PID_RESET. Such a broker keeps no state for mapped producers and holds the last stable offset back for none of their ' +
  'transactions, but for one that is open in a producer snapshot, which holds it back for ever. Java and Python consumers and ' +
  'share groups are shown aborted records of theirs, also with read_committed. A recovery leaves them out of the transaction ' +
  'index; then the log cleaner takes aborted records for committed ones, and deletes the committed. Restored ids (--unmap) are ' +
  'no way out: they collide with those that the broker hands out itself, and acknowledged writes are lost. A mapping that such ' +
  'brokers can serve (to reserved positive ids) is not in this version: only brokers that know negative ids are to serve this log.'

/** A text as a paragraph of a help. */
export function paragraph(text: string): string {
  return text.replace(/(.{1,118})(?: |$)/g, '$1\n').trimEnd()
}
