import { MirrorPidError } from '../mirrorPidError.ts'

/** What messages say of a call that changes everything or nothing. A stream has passed on what came before. */
const ALL_OR_NOTHING = 'Nothing was changed'

/**
 * Says in an error that ends a stream, and in its `passedBytes`, how much had left the stream by then. Of any error of ours,
 * so that none tells of a stream what is true of a call.
 */
export function tellPassed(error: unknown, passedBytes: number): unknown {
  // one that several streams fail with, such as the core's, is told once
  if (!MirrorPidError.is(error) || error.passedBytes !== undefined) return error
  const { message, stack } = error
  const told =
    passedBytes === 0
      ? 'Nothing was passed on'
      : `The first ${passedBytes} bytes of the stream were passed on, and no more`
  error.message = message.includes(ALL_OR_NOTHING)
    ? message.replace(ALL_OR_NOTHING, told)
    : `${message.replace(/\.$/, '')}. ${told}.`
  // the stack is what Node prints, and begins with the message
  if (stack !== undefined) error.stack = stack.replace(message, () => error.message)
  return Object.assign(error, { passedBytes })
}
