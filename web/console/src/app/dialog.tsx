import { Group, Modal } from '@mantine/core'
import { type ReactNode, useEffect, useId } from 'react'

type Props = Readonly<{ title: string; isOpen: boolean; onClose: () => void; children: ReactNode }>

/** A modal of the stack: the one that opened last is shown. Its title is no `header`, which would be a second banner of the page. */
export function Dialog({ title, isOpen, onClose, children }: Props) {
  const id = useId()
  useReturnedFocus(isOpen)
  return (
    <Modal stackId={id} opened={isOpen} onClose={onClose} withCloseButton={false} returnFocus={false} size="lg">
      <Group justify="space-between" mb="md" wrap="nowrap">
        <Modal.Title fw={700}>{title}</Modal.Title>
        <Modal.CloseButton aria-label="Close" />
      </Group>
      {children}
    </Modal>
  )
}

/** The focus goes back to where it was, or to the page if that is gone. A modal of a stack does not do it. */
function useReturnedFocus(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return
    const before = document.activeElement
    return () => {
      const target = before?.isConnected ? before : document.getElementById('main')
      // After the modal has let it go.
      if (target instanceof HTMLElement) setTimeout(() => target.focus({ preventScroll: true }))
    }
  }, [isOpen])
}
