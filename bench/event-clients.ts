import { get, type IncomingMessage } from 'node:http'
import { readSettings, serve } from './processes.ts'

/** Opens event streams and keeps reading them. */
export type EventClientsSettings = Readonly<{ port: number; keys: readonly string[]; streamsPerKey: number }>

const { port, keys, streamsPerKey } = readSettings<EventClientsSettings>()
const responses: IncomingMessage[] = []
let events = 0
for (const key of keys)
  await Promise.all(Array.from({ length: streamsPerKey }, async () => responses.push(await open(key))))
serve({ streams: responses.length }, async () => {
  if (events === 0) throw new Error('the streams received no event')
  for (const response of responses) response.destroy()
})

function open(key: string): Promise<IncomingMessage> {
  const headers = { 'x-api-key': key, 'x-forwarded-for': '127.0.0.1' }
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/v1/events', headers, agent: false }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`a stream was answered with ${response.statusCode}`))
      response.on('data', (chunk: Buffer) => {
        if (chunk.includes('\ndata: ')) events++
      })
      return resolve(response)
    }).on('error', reject)
  })
}
