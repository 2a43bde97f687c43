import { InvalidArgumentError, Option } from 'commander'

const MAX_JOBS = 64

export interface JobsFlags {
  jobs?: number
}

export function jobsOption(): Option {
  return new Option(
    '--jobs <n>',
    'work on up to so many segments at a time; memory allows for 2 (default: 2 where there is enough to do)',
  ).argParser((text) => {
    const jobs = Number(text)
    if (/^\d+$/.test(text) && jobs >= 1 && jobs <= MAX_JOBS) return jobs
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_JOBS}.`)
  })
}
