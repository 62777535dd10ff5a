import { Group, Modal } from '@mantine/core'
import { type ReactNode, useId } from 'react'

type Props = Readonly<{ title: string; isOpen: boolean; onClose: () => void; children: ReactNode }>

/** A modal of the stack: the one that opened last is shown. Its title is no `header`, which would be a second banner of the page. */
export function Dialog({ title, isOpen, onClose, children }: Props) {
  const id = useId()
  return (
    <Modal stackId={id} opened={isOpen} onClose={onClose} withCloseButton={false} size="lg">
      <Group justify="space-between" mb="md" wrap="nowrap">
        <Modal.Title fw={700}>{title}</Modal.Title>
        <Modal.CloseButton aria-label="Close" />
      </Group>
      {children}
    </Modal>
  )
}
