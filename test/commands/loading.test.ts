// A command's start is mostly the loading of modules, so a run loads those of its own command only.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const source = fileURLToPath(new URL('../../src', import.meta.url))
const declared = readdirSync(join(source, 'commands'))
  .filter((name) => name.endsWith('Run.ts'))
  .map((name) => name.slice(0, -'Run.ts'.length))

/** What a module imports when it is loaded: types are gone by then, and `import()` waits. */
function staticImports(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8')
  const statements = text.matchAll(/^(?:import|export) (?!type )(?:[^'"]*? from )?'([^']+)'/gm)
  return [...statements].map(([, specifier]) =>
    specifier!.startsWith('.') ? relative(source, join(source, dirname(file), specifier!)) : specifier!,
  )
}

function loadedWith(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found
  found.add(file)
  if (file.endsWith('.ts')) for (const imported of staticImports(file)) loadedWith(imported, found)
  return found
}

describe('what is loaded', () => {
  it('before a command runs: the options of each, and the work of none', () => {
    const loaded = [...loadedWith('commands/main.ts')]
    expect(loaded).toEqual(expect.arrayContaining(declared.map((name) => `commands/${name}.ts`)))
    expect(loaded.filter((file) => file.endsWith('Run.ts'))).toEqual([])
    const others = loaded.filter((file) => !file.startsWith('commands/'))
    expect(others.sort()).toEqual([
      'commander',
      'errors.ts',
      'mirrorPidError.ts',
      'node:fs',
      'node:v8',
      'node:vm',
    ])
  })

  it.each(declared)('for %s: not the other commands, no progress bars, no codecs', (name) => {
    const loaded = [...loadedWith(`commands/${name}Run.ts`)]
    const others = declared.filter((other) => other !== name).map((other) => `commands/${other}Run.ts`)
    expect(loaded.filter((file) => others.includes(file))).toEqual([])
    expect(loaded.filter((file) => /^(cli-progress|pako|node:zlib)$/.test(file))).toEqual([])
    expect(loaded.length).toBeGreaterThan(5) // the walk has gone on
  })
})
