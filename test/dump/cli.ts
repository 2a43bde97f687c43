import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const main = fileURLToPath(new URL('../../dist/commands/main.js', import.meta.url))

export interface CliResult {
  status: number | null
  stdout: string
  stderr: string
}

/** Runs `mirrorpid dump` as a process of its own; the directory's own path is cut out of what it prints. */
export async function dump(args: readonly string[], cwd = '.'): Promise<CliResult> {
  const directory = realpathSync(cwd)
  const child = spawn(process.execPath, [main, 'dump', ...args], { cwd: directory })
  const [stdout, stderr, status] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ])
  const cut = (text: string) => text.replaceAll(`${directory}/`, '')
  return { status, stdout: cut(stdout), stderr: cut(stderr) }
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
