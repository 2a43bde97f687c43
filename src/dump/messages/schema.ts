/** The fields of messages in Kafka's own topics, in a short notation. */

export type PrimitiveType =
  | 'bool'
  | 'int8'
  | 'int16'
  | 'uint16'
  | 'int32'
  | 'int64'
  | 'float64'
  | 'string'
  | 'bytes'
  | 'uuid'

export type FieldType = PrimitiveType | { fields: Field[] } | { element: FieldType }

export interface Field {
  name: string
  type: FieldType
  isNullable: boolean
  /** Versions that have it. */
  from: number
  to: number
  /** Null for a field that is always there. */
  tag: number | null
  /** Of a tagged field: what it is when it is left out; undefined for its type's own. */
  initial: number | boolean | null | undefined
}

export interface Schema {
  fields: Field[]
  /** The first version with compact lengths and tagged fields. */
  flexibleFrom: number
  highest: number
}

const TOKEN = /\s*([A-Za-z_]\w*|@\d+(?:[+]|-\d+)?|#\d+|=(?:-?\d+|null|true|false)|[?[\]{},])/y

/**
 * Reads the notation: fields with commas between them, each a name and a type. `[type]` is an array, `{...}` a struct,
 * `?` before a type makes it nullable; then, where they apply, `@2+`, `@1` or `@0-1` for the versions that have the
 * field, `#0` for its tag, and `=-1` for its default.
 */
export function schema(text: string, flexibleFrom = 0, highest = 0): Schema {
  const parser = new Parser(text)
  return { fields: parser.fields(''), flexibleFrom, highest }
}

class Parser {
  readonly #tokens: string[] = []
  #at = 0

  constructor(text: string) {
    TOKEN.lastIndex = 0
    for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) this.#tokens.push(match[1]!)
  }

  /** Fields up to a closing token, which is taken too. */
  fields(end: string): Field[] {
    const fields: Field[] = []
    while (this.#peek() !== end) {
      fields.push(this.#field())
      if (this.#peek() === ',') this.#at++
    }
    this.#at++
    return fields
  }

  #field(): Field {
    const name = this.#next()
    const isNullable = this.#peek() === '?'
    if (isNullable) this.#at++
    const field: Field = {
      name,
      type: this.#type(),
      isNullable,
      from: 0,
      to: Infinity,
      tag: null,
      initial: undefined,
    }
    for (; /^[@#=]/.test(this.#peek()); this.#at++) this.#modify(field, this.#peek())
    return field
  }

  #modify(field: Field, token: string): void {
    const text = token.slice(1)
    if (token[0] === '#') field.tag = Number(text)
    else if (token[0] === '=') field.initial = JSON.parse(text) as number | boolean | null
    else {
      const [from, to] = text.split(/[-+]/)
      field.from = Number(from)
      if (!text.endsWith('+')) field.to = Number(to ?? from)
    }
  }

  #type(): FieldType {
    const token = this.#next()
    if (token === '{') return { fields: this.fields('}') }
    if (token !== '[') return token as PrimitiveType
    const element = this.#type()
    this.#at++
    return { element }
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? ''
  }

  #next(): string {
    return this.#tokens[this.#at++] ?? ''
  }
}
