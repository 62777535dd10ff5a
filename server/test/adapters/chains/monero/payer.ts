import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@swapyard/lib/free-port.ts'
import { inject } from 'vitest'
import { nullIfNotListening } from '../../../../../test/support/not-listening.ts'
import { until } from '../../../../../test/support/until.ts'
import type { ChainsFile } from '../../../../src/app/sandbox-chains.ts'

const readChainsFile = (): ChainsFile => JSON.parse(readFileSync(inject('chainsFile'), 'utf8')) as ChainsFile

/** The monerod of the shared test chains. */
export function chainOf(): ChainsFile['networks'][number] {
  const node = readChainsFile().networks.find(({ network }) => network === 'xmr')
  if (!node) throw new Error('the test chains have no xmr')
  return node
}

async function send(url: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body, (_key, value) => (typeof value === 'bigint' ? Number(value) : value)),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}

async function rpc(url: string, method: string, params: unknown): Promise<Record<string, unknown>> {
  const { result, error } = await send(`${url}/json_rpc`, { jsonrpc: '2.0', id: '0', method, params })
  if (error) throw new Error(`${method}: ${(error as { message: string }).message}`)
  return result as Record<string, unknown>
}

const daemonUrl = () => chainOf().rpcUrls[0] ?? ''

export const post = (path: string, body: unknown) => send(`${daemonUrl()}${path}`, body)
export const call = (method: string, params: unknown) => rpc(daemonUrl(), method, params)
export const control = (path: string, body: unknown) => send(`${readChainsFile().controlUrl}${path}`, body)

/** `address`: the wallet's address that was paid; `payment_id`: zeros if the sender gave none. */
type Received = Readonly<{ txid: string; address: string; amount: number; payment_id: string }>
type Destination = Readonly<{ address: string; amount: bigint }>

function unlessLocked(error: Error): { tx_hash?: string } {
  if (error.message.includes('not enough unlocked money')) return {}
  throw error
}

/** A customer with Monero's own wallet, for payments that the sandbox cannot make. Holds 3 XMR in six outputs. */
export async function startPayer(folder: string) {
  const port = await freePort()
  const child = spawn(
    'monero-wallet-rpc',
    [
      `--daemon-address=${new URL(daemonUrl()).host}`,
      '--trusted-daemon',
      `--rpc-bind-port=${port}`,
      '--disable-rpc-login',
      '--rpc-ssl=disabled',
      `--wallet-dir=${folder}`,
      `--log-file=${join(folder, 'wallet.log')}`,
    ],
    { stdio: 'ignore' },
  )
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://127.0.0.1:${port}`
  const wallet = (method: string, params: unknown = {}) => rpc(url, method, params)
  await until('the wallet program answers', () => wallet('get_version').catch(nullIfNotListening))
  await wallet('create_wallet', { filename: 'payer', password: '', language: 'English' })
  const { address } = (await wallet('get_address', { account_index: 0 })) as { address: string }
  for (let n = 0; n < 6; n++) await control('/deposits', { network: 'xmr', currency: 'native', address, amount: '0.5' })
  const waitForUnlocked = (least: number) =>
    until('its outputs can be spent', async () => {
      await wallet('refresh')
      const { unlocked_balance: units } = (await wallet('get_balance', { account_index: 0 })) as {
        unlocked_balance: number
      }
      return units >= least
    })
  await waitForUnlocked(6 * 5e11)
  return {
    /** A new subaddress. */
    subaddress: async () => String((await wallet('create_address', { account_index: 0 }))['address']),
    /** The primary address with a random payment id, as used by services with one address for many recipients. */
    integrated: async () => {
      const made = await wallet('make_integrated_address')
      return { address: String(made['integrated_address']), paymentId: String(made['payment_id']) }
    },
    /** The incoming transfers according to the wallet. */
    received: async () => {
      await wallet('refresh')
      const { in: incoming = [] } = (await wallet('get_transfers', { in: true })) as { in?: Received[] }
      return incoming
    },
    transfer: async (destinations: readonly Destination[], more: object = {}) =>
      // Its outputs are locked again after another test has orphaned their blocks.
      until('its outputs can be spent', async () => {
        await wallet('refresh')
        const { tx_hash: hash } = await wallet('transfer', { destinations, ...more }).catch(unlessLocked)
        return hash === undefined ? null : String(hash)
      }),
    /** Waits until `least` units can be spent: outputs are locked again after another test has orphaned their blocks. */
    waitForUnlocked,
    /** A signed transaction that is not relayed. Two calls spend the same output. */
    build: async (to: string, amount: bigint) => {
      const outputs = (await wallet('incoming_transfers', { transfer_type: 'available' })) as {
        transfers: { key_image: string; unlocked: boolean }[]
      }
      const [spent, ...others] = outputs.transfers
        .filter(({ unlocked }) => unlocked)
        .map(({ key_image: image }) => image)
      if (spent === undefined) throw new Error('the payer has no unlocked output')
      for (const image of others) await wallet('freeze', { key_image: image })
      const built = await wallet('transfer', {
        destinations: [{ address: to, amount }],
        do_not_relay: true,
        get_tx_hex: true,
      })
      for (const image of others) await wallet('thaw', { key_image: image })
      return String(built['tx_blob'])
    },
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}
