import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCommand, temporaryDirectories } from '../node/support.ts'

const newDirectory = temporaryDirectories()

function scenarioFile(content: unknown): string {
  const file = join(newDirectory(), 'scenario.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const rejoin = {
  clusters: ['A', 'B'],
  steps: [
    { step: 'mirror', cluster: 'B', source: 'A' },
    { step: 'produce', cluster: 'A', producerId: '9223372036854775806', records: 2 },
    { step: 'fetch', cluster: 'B' },
    { step: 'stop', cluster: 'B' },
  ],
}

describe('mirrorpid simulate', () => {
  it('draws the table of the draft', () => {
    const { status, stdout, stderr } = runCommand(['simulate', 'draft-chain', '--policy', 'legacy'])
    expect([status, stderr]).toEqual([1, ''])
    expect(stdout).toContain(`draft-chain, policy legacy

 A           B           C           D
-1 -------> -1 -------> -1 -------> -1
 5 -------> -7 --------> 5 -------> -7
                         5 -------> -7 # collision

 1. B mirrors A from offset 0 on  [B: no producers]
`)
    expect(stdout).toContain('3 collisions; every replica has the state of its log\n')
  })

  it.each(['chain', 'local-collision', 'downstream-failover', 'failback'])('%s: fine by default', (name) => {
    expect(runCommand(['simulate', name, '--quiet'])).toMatchObject({ status: 0, stdout: '', stderr: '' })
    const { status, stdout } = runCommand(['simulate', name, '--json'])
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ policy: 'default', collisions: [], converged: true })
  })

  it('prints collisions alone with --quiet', () => {
    const { status, stdout } = runCommand([
      'simulate',
      'draft-local-collision',
      '--policy',
      'guard',
      '--quiet',
    ])
    expect(status).toBe(1)
    expect(stdout).toBe("step 8, C, offset 1: -7 stands for A's producer 5 and for B's producer 5\n")
  })

  it('plays a file; JSON keeps every digit', () => {
    const { status, stdout, stderr } = runCommand(['simulate', scenarioFile(rejoin), '--json'])
    expect([status, stderr]).toEqual([0, ''])
    const { steps, name } = JSON.parse(stdout)
    expect(name).toMatch(/scenario\.json$/)
    expect(steps[2].after).toMatchObject({ producers: ['-9223372036854775808'], logEndOffset: '2' })
    expect(steps[3]).toMatchObject({ number: 4, step: 'stop', cluster: 'B', outcome: 'done', code: null })
  })

  it.each([
    ['{"clusters":', 'it is not JSON'],
    [[], '$: an object is needed; got []'],
    [{ ...rejoin, steps: [{ step: 'stop', cluster: 'Z' }] }, '$.steps[0].cluster: "Z" is no cluster'],
  ])('refuses %j', (content, words) => {
    const { status, stdout, stderr } = runCommand(['simulate', scenarioFile(content)])
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain('scenario.json: ')
    expect(stderr).toContain(words)
    const json = runCommand(['simulate', scenarioFile(content), '--json'])
    expect(json.status).toBe(2)
    expect(JSON.parse(json.stdout)).toMatchObject({
      policy: 'default',
      errors: [{ code: 'INVALID_ARGUMENT', message: expect.stringContaining(words) }],
    })
  })

  it.each([
    [['simulate'], "missing required argument 'scenario'"],
    [['simulate', 'ring'], 'no scenario of this name; there are chain, local-collision'],
    [['simulate', 'chain', '--policy', 'guess'], 'Allowed choices are legacy, guard, stop-only, default'],
    [['simulate', '/'], 'cannot read it'],
  ])('refuses %j', (args, message) => {
    const { status, stdout, stderr } = runCommand(args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  it('explains itself', () => {
    const { status, stdout } = runCommand(['simulate', '--help'])
    expect(status).toBe(0)
    for (const word of ['Examples:', '--policy', '"step": "produce"', 'Exit status'])
      expect(stdout).toContain(word)
  })
})
