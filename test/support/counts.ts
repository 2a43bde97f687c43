/** Whether this is `npm run test:slow`, which runs the files that ask here, with the counts that take long. */
const isLong = process.env.MIRRORPID_LONG === '1'

/** How often, how many, how large: for `npm test`, which is done in minutes, and for `npm run test:slow`. */
export const quickOrLong = <T>(quick: T, long: T): T => (isLong ? long : quick)
