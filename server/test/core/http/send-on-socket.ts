import { connect } from 'node:net'
import type { Answer } from './bad-input-case.ts'

/** Sends the bytes and reads until the server closes the connection. Omits an interim 100. */
export function sendOnSocket(port: number, bytes: string): Promise<Answer> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'))
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
    })
    // The server may reset a connection whose request it does not read to the end.
    socket.on('error', () => socket.destroy())
    socket.on('close', () => resolve(parseAnswer(text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, ''))))
  })
}

function parseAnswer(text: string): Answer {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(lines.map((line) => line.toLowerCase().split(': ', 2) as [string, string]))
  return { status: Number(statusLine.split(' ')[1]), headers, body }
}
