import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@swapyard/lib/free-port.ts'
import { createJsonRpc, unwrapAnswer } from '@swapyard/lib/json-rpc.ts'
import { until } from '../support/until.ts'
import type { TestNode } from './chain-suite.ts'

/** Starts Litecoin Core on regtest in its own folder. It follows the node with the peer-to-peer port `followPort`. */
export async function startLitecoind(followPort: number | null = null): Promise<TestNode & { peerPort: number }> {
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
    // Off by default, unlike in Bitcoin Core.
    '-mempoolreplacement=1',
    '-disablewallet=1',
    '-dnsseed=0',
    '-printtoconsole=0',
    ...(followPort === null ? ['-connect=0', '-listen=1'] : [`-connect=127.0.0.1:${followPort}`]),
  ]
  const child = spawn('litecoind', settings, { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://swapyard:regtest@127.0.0.1:${rpcPort}/`
  const rpc = createJsonRpc({ url })
  const call = async (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    unwrapAnswer(method, await rpc.call(method, params))
  await until('litecoind responds', async () => {
    if (child.exitCode !== null) throw new Error(`litecoind exited with code ${child.exitCode}`)
    return (await rpc.call('getblockcount', [])).kind === 'result'
  })
  return {
    url,
    canValidateAddresses: true,
    peerPort,
    call,
    stop: async () => {
      // After SIGTERM it would wait for every open connection.
      child.kill('SIGKILL')
      await ended
      await rpc.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
