// Kafka's own tool, from any directory: node test/kafka/kafka-dump-log.js --files 00000000000000000000.log
import { kafkaDump } from './judge.js'

const { stdout, stderr, status } = await kafkaDump(process.argv.slice(2))
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = status
