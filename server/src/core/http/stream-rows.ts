import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** Chunk size in characters. A list that fits into one chunk is sent with its length. */
const PIECE_LENGTH = 16 * 1024

/**
 * Sends a short list at once and streams a long one: rows are read as fast as the client receives them. A failure closes the
 * connection, so that the client cannot take a partial list for a complete one.
 */
export function sendRows<T>(
  reply: FastifyReply,
  head: string,
  rows: AsyncIterable<T>,
  render: (row: T) => string,
): Promise<FastifyReply> {
  return sendPieces(reply, renderPieces(head, rows, render))
}

/** As `sendRows`, for rows without a separator and without an end. */
export function sendCsv<T>(
  reply: FastifyReply,
  head: string,
  rows: AsyncIterable<T> | Iterable<T>,
  render: (row: T) => string,
): Promise<FastifyReply> {
  return sendPieces(reply, renderPieces(head, rows, render, ['', '']))
}

async function* renderPieces<T>(
  head: string,
  rows: AsyncIterable<T> | Iterable<T>,
  render: (row: T) => string,
  [between, end]: readonly [string, string] = [',', ']}'],
): AsyncGenerator<string, void, undefined> {
  let piece = head
  let separator = ''
  for await (const row of rows) {
    piece += separator + render(row)
    separator = between
    if (piece.length >= PIECE_LENGTH) {
      yield piece
      piece = ''
    }
  }
  yield piece + end
}

async function sendPieces(reply: FastifyReply, pieces: AsyncGenerator<string, void, undefined>): Promise<FastifyReply> {
  const first = await pieces.next()
  const second = first.done ? first : await pieces.next()
  if (first.done || second.done) return reply.send(first.value ?? '')
  return reply.send(
    Readable.from(startingWith([first.value, second.value], pieces), { objectMode: true, highWaterMark: 2 }),
  )
}

async function* startingWith(
  read: readonly string[],
  rest: AsyncGenerator<string, void, undefined>,
): AsyncGenerator<string> {
  try {
    yield* read
    yield* rest
  } finally {
    // The client disconnected: closes the cursor of the rows.
    await rest.return()
  }
}
