import * as errors from '../../errors.ts'
import { MirrorPidError } from '../../errors.ts'

/** An error of ours as it crosses from one thread to another, where a clone would lose its class and its fields. */
export interface TransferredError {
  /** Name of the class. */
  name: string
  message: string
  stack: string | undefined
  cause: unknown
  /** Its own fields, `code` among them. */
  fields: Record<string, unknown>
}

const classes = new Map<string, object>(
  Object.values(errors)
    .filter((value) => typeof value === 'function')
    .map((value) => [value.name, value.prototype]),
)

export function transferError(error: MirrorPidError): TransferredError {
  const { name, message, stack, cause } = error
  return { name, message, stack, cause, fields: { ...error } }
}

/** The error that was transferred: of its class, with its fields. */
export function receiveError({ name, message, stack, cause, fields }: TransferredError): MirrorPidError {
  const code = fields.code as MirrorPidError['code']
  const error = new MirrorPidError(code, message, cause === undefined ? undefined : { cause })
  const prototype = classes.get(name)
  if (prototype !== undefined) Object.setPrototypeOf(error, prototype)
  Object.assign(error, fields)
  if (stack !== undefined) error.stack = stack
  return error
}
