/** A part of JSON that is text already. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** JSON as Kafka's tools print it: compact, fields in the order of the schema, 64-bit numbers as numbers. */
export function kafkaJson(value: unknown): string {
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean')
    return String(value)
  if (typeof value === 'string') return kafkaString(value)
  if (Array.isArray(value)) return `[${value.map(kafkaJson).join(',')}]`
  if (value === null || typeof value !== 'object') return 'null'
  if (value instanceof RawJson) return value.text
  return `{${Object.entries(value)
    .map(([name, field]) => `${kafkaString(name)}:${kafkaJson(field)}`)
    .join(',')}}`
}

/** As Jackson writes a string: its escapes have upper-case digits. */
function kafkaString(text: string): string {
  return JSON.stringify(text).replace(/\\(\\|u00[0-9a-f]{2})/g, (sequence) =>
    sequence === '\\\\' ? sequence : `\\u${sequence.slice(2).toUpperCase()}`,
  )
}
