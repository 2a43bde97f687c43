import { InvalidArgumentError } from 'commander'

/** What commander is given to read the values of options with; it says which option and value were wrong. */

export const MAX_INT32 = 2147483647

/** Takes whole numbers from `least` to `most`, in decimal digits alone. */
export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} on` : `from ${least} to ${most}`
  return (text) => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= least && number <= most) return number
    throw new InvalidArgumentError(`It must be a whole number ${range}.`)
  }
}

export function clusterId(text: string): string {
  if (text !== '') return text
  throw new InvalidArgumentError('It must be the id of a cluster.')
}
