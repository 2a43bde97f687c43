import { Option } from 'commander'
import { wholeNumber } from './optionParsers.ts'

const MAX_JOBS = 64

export interface JobsFlags {
  jobs?: number
}

export function jobsOption(): Option {
  return new Option(
    '--jobs <n>',
    'work on up to so many segments at a time; memory allows for 2 (default: 2 where there is enough to do)',
  ).argParser(wholeNumber(1, MAX_JOBS))
}
