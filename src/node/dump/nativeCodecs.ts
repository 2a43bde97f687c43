export { nativeCodecs } from '../segments/nativeCodecs.ts'
