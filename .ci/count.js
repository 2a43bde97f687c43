// Adds up the JSON reports of the test runners and prints one line. Fails when a report is missing, when a test failed,
// when a file could not be run at all, when no test ran, or when a condition hid a test here.
import { readFileSync } from 'node:fs'

let passed = 0
let failed = 0
let skipped = 0
for (const path of process.argv.slice(2)) {
  let report
  try {
    report = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    console.error(`no report at ${path}: ${error.message}`)
    failed++
    continue
  }
  if (report.numPassedTests === 0) {
    console.error(`no test passed in ${path}`)
    failed++
  }
  passed += report.numPassedTests
  failed += report.numFailedTests
  skipped += report.numPendingTests + report.numTodoTests
  const hidden = report.testResults
    .flatMap((file) => file.assertionResults)
    .filter(({ status }) => !['passed', 'failed'].includes(status))
  for (const { fullName } of hidden) console.error(`was not run: ${fullName}`)
  failed += hidden.length
  // a file that fails to load has no tests of its own to count
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  )
  for (const file of broken) console.error(`could not run ${file.name}: ${file.message}`)
  failed += broken.length
}

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
