import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { blocksOf, SAMPLE_URL } from './page-samples.ts'

/** What the samples import beside the client library. */
const packages = ['viem', '@solana/kit', '@mysten/sui']
const modules = join(import.meta.dirname, '../../node_modules')

export type InstalledSdk = Readonly<{
  /** The folder of a program that has installed the client library. */
  project: string
  /** For programs in it, npm too. */
  env: Readonly<Record<string, string>>
  remove(): void
}>

/** Installs the client library from a running server by the command of docs/partners/start.md. There is no registry. */
export async function installSdk(url: string): Promise<InstalledSdk> {
  const project = mkdtempSync(join(tmpdir(), 'swapyard-partner-'))
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: project,
    npm_config_cache: join(project, 'cache'),
    // RFC 863: the port of a service that nothing offers any more.
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  }
  const [command = ''] = blocksOf('docs/partners/start.md', 'sh')
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
  await promisify(execFile)('sh', ['-c', command.replaceAll(SAMPLE_URL, url)], { cwd: project, env })
  for (const name of packages) {
    const target = join(project, 'node_modules', name)
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(join(modules, name), target)
  }
  return { project, env, remove: () => rmSync(project, { recursive: true, force: true }) }
}
