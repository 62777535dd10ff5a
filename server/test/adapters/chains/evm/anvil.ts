import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { PATIENCE_MS } from '../../../../../test/support/patience.ts'
import { createTestNode, hex, type TestNode } from './test-node.ts'

export { call, hex, type Sent } from './test-node.ts'

export const TEST_CHAIN_ID = 3_133_700_001

/** An anvil node, mining on request only. */
export type Anvil = TestNode

const PLATFORMS: Readonly<Record<string, string>> = {
  'linux-x64': 'anvil-linux-amd64',
  'linux-arm64': 'anvil-linux-arm64',
  'darwin-x64': 'anvil-darwin-amd64',
  'darwin-arm64': 'anvil-darwin-arm64',
}
function binary(): string {
  const name = PLATFORMS[`${process.platform}-${process.arch}`]
  const packageFile = createRequire(import.meta.url).resolve(`@foundry-rs/${name}/package.json`)
  return join(dirname(packageFile), 'bin', 'anvil')
}

export async function startAnvil(options: readonly string[] = []): Promise<Anvil> {
  const chainId = options.includes('--chain-id') ? [] : ['--chain-id', String(TEST_CHAIN_ID)]
  const fixed = ['--port', '0', ...chainId, '--no-mining', '--order', 'fifo']
  const child = spawn(binary(), [...fixed, ...options], { stdio: ['ignore', 'pipe', 'ignore'] })
  const url = await listening(child)
  return createTestNode(url, {
    mine: (blocks, request) => request('anvil_mine', [hex(blocks)]),
    reorg: (depth, request) => request('anvil_reorg', [depth, []]),
    async stop() {
      const exit = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await exit
    },
  })
}

async function listening(child: ChildProcess): Promise<string> {
  const { stdout } = child
  if (!stdout) throw new Error('no output')
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('anvil did not start')), PATIENCE_MS)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`anvil exited with code ${code}`)))
    createInterface({ input: stdout }).on('line', (line) => {
      const match = /Listening on (127\.0\.0\.1:\d+)/.exec(line)
      if (!match) return
      clearTimeout(timer)
      resolve(`http://${match[1]}`)
    })
  })
}
