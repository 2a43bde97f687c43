// Jest loads ES modules by itself, with a flag of Node, as the README says.
import { expect, inject, it } from 'vitest'
import { placeIn, runNode, segmentsModule, tourSource } from './support.ts'
import { TOUR } from './tourOutput.ts'

it('works in Jest', async () => {
  const config = JSON.stringify({ transform: {}, testMatch: ['**/*.spec.js'] })
  const place = await placeIn(inject('project'), {
    'tour.js': await tourSource(),
    'segments.js': await segmentsModule(),
    'some.spec.js': `import * as mirrorpid from 'mirrorpid'
      import { jsCore } from 'mirrorpid/js'
      import { segments } from './segments.js'
      import { tour } from './tour.js'
      test.each([
        [await mirrorpid.loadCore(), ${JSON.stringify(TOUR.wasm)}],
        [jsCore(), ${JSON.stringify(TOUR['without wasm'])}],
      ])('tours', async (core, text) => expect(await tour({ mirrorpid }, core, segments())).toBe(text))`,
  })
  const args = ['--experimental-vm-modules', inject('jest'), '--rootDir', '.', '--config', config]
  const { stderr, status } = await runNode(place, ...args)
  expect(stderr).toContain('Tests:       2 passed, 2 total')
  expect(status).toBe(0)
})
