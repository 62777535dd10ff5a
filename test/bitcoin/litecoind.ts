import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@swapyard/lib/free-port.ts'
import { createJsonRpc, unwrapAnswer } from '@swapyard/lib/json-rpc.ts'
import { until } from '../support/until.ts'
import type { TestNode } from './chain-suite.ts'

/** Litecoin Core on regtest in a folder of its own; `peer` is the peer-to-peer port of another one, to follow it. */
export async function startLitecoind(peer: number | null = null): Promise<TestNode & { peerPort: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-litecoind-'))
  writeFileSync(join(folder, 'litecoin.conf'), '')
  const [rpcPort, peerPort] = [await freePort(), await freePort()]
  const settings = [
    '-regtest',
    `-datadir=${folder}`,
    `-rpcport=${rpcPort}`,
    `-bind=127.0.0.1:${peerPort}`,
    '-rpcuser=swapyard',
    '-rpcpassword=regtest',
    '-txindex=1',
    // Off by default, unlike Bitcoin Core's.
    '-mempoolreplacement=1',
    '-disablewallet=1',
    '-dnsseed=0',
    '-printtoconsole=0',
    ...(peer === null ? ['-connect=0', '-listen=1'] : [`-connect=127.0.0.1:${peer}`]),
  ]
  const child = spawn('litecoind', settings, { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://swapyard:regtest@127.0.0.1:${rpcPort}/`
  const rpc = createJsonRpc({ url })
  const call = async (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    unwrapAnswer(method, await rpc.call(method, params))
  await until('litecoind answers', async () => {
    if (child.exitCode !== null) throw new Error(`litecoind ended with ${child.exitCode}`)
    return (await rpc.call('getblockcount', [])).kind === 'result'
  })
  return {
    url,
    validates: true,
    peerPort,
    call,
    stop: async () => {
      // Asked politely it would wait for every open connection.
      child.kill('SIGKILL')
      await ended
      await rpc.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
