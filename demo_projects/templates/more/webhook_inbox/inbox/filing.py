from inbox.delivery import read_delivery, topic_of


class Inbox:
    def __init__(self) -> None:
        self.folders = {}
        self._seen = set()

    def accept(self, body: str) -> bool:
        delivery = read_delivery(body)
        if delivery["id"] in self._seen:
            return False
        self._seen.add(delivery["id"])
        folder = self.folders.setdefault(topic_of(delivery), [])
        folder.append(delivery["id"])
        return True
