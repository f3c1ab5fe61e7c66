"""Serves Qdrant's own engine (qdrant-edge) over the part of its REST API that the product uses.

Filters, conditional writes, sparse vectors and orders are the engine's; only HTTP is ours.
"""

import json
import shutil
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import unquote, urlsplit

import qdrant_edge as q

MODES = {
    "upsert": q.UpdateMode.Upsert,
    "insert_only": q.UpdateMode.InsertOnly,
    "update_only": q.UpdateMode.UpdateOnly,
}
TYPES = {
    "keyword": q.PayloadSchemaType.Keyword,
    "integer": q.PayloadSchemaType.Integer,
}


class Collection:
    def __init__(self, wanted):
        self.folder = tempfile.mkdtemp(prefix="astra-qdrant-engine-")
        self.params = {"vectors": wanted["vectors"], "sparse_vectors": wanted["sparse_vectors"]}
        self.indexes = {}
        vectors = {
            name: q.EdgeVectorParams(each["size"], q.Distance.Cosine)
            for name, each in wanted["vectors"].items()
        }
        sparse = {
            name: q.EdgeSparseVectorParams(modifier=q.Modifier.Idf)
            for name in wanted["sparse_vectors"]
        }
        self.shard = q.EdgeShard.create(self.folder, q.EdgeConfig(vectors, sparse))

    def drop(self):
        self.shard.close()
        shutil.rmtree(self.folder)


def condition(one):
    if "has_id" in one:
        return q.HasIdCondition(set(one["has_id"]))
    if "match" in one:
        return q.FieldCondition(one["key"], match=q.MatchValue(one["match"]["value"]))
    return q.FieldCondition(one["key"], range=q.RangeFloat(**one["range"]))


def filter_of(body):
    given = body.get("filter")
    if given is None:
        return None
    lists = {name: [condition(one) for one in given[name]] for name in given}
    return q.Filter(**lists)


def vector_of(value):
    return q.SparseVector(**value) if isinstance(value, dict) else value


def plain(vector):
    if isinstance(vector, dict):
        return {name: plain(each) for name, each in vector.items()}
    if isinstance(vector, q.SparseVector):
        return {"indices": vector.indices, "values": vector.values}
    return vector


def shown(point, with_vector):
    result = {"id": str(point.id), "payload": point.payload}
    if with_vector:
        result["vector"] = plain(point.vector)
    if hasattr(point, "score"):
        result.update(score=point.score, version=point.version)
    return result


def upsert(collection, body):
    points = [
        q.Point(
            each["id"],
            {name: vector_of(value) for name, value in each["vector"].items()},
            each.get("payload"),
        )
        for each in body["points"]
    ]
    update_filter = filter_of({"filter": body.get("update_filter")})
    mode = MODES[body.get("update_mode") or "upsert"]
    collection.shard.update(q.UpdateOperation.upsert_points(points, update_filter, mode))
    return {"operation_id": 0, "status": "completed"}


def query(collection, body):
    nearest = q.Query.Nearest(vector_of(body["query"]), body["using"])
    request = q.QueryRequest(
        body["limit"],
        query=nearest,
        filter=filter_of(body),
        with_payload=bool(body.get("with_payload")),
    )
    return {"points": [shown(point, False) for point in collection.shard.query(request)]}


def query_batch(collection, body):
    return [query(collection, one) for one in body["searches"]]


def retrieve(collection, body):
    with_vector = body.get("with_vector") or False
    found = collection.shard.retrieve(body["ids"], True, with_vector)
    return [shown(point, with_vector) for point in found]


def scroll(collection, body):
    order = body.get("order_by")
    ordered = order and q.OrderBy(
        order["key"], q.Direction.Desc if order["direction"] == "desc" else q.Direction.Asc
    )
    with_vector = body.get("with_vector") or False
    points, following = collection.shard.scroll(
        q.ScrollRequest(
            offset=body.get("offset"),
            limit=body["limit"],
            filter=filter_of(body),
            with_payload=body.get("with_payload", True),
            with_vector=with_vector,
            order_by=ordered,
        )
    )
    following = None if ordered or following is None else str(following)
    return {"points": [shown(each, with_vector) for each in points], "next_page_offset": following}


def count(collection, body):
    return {"count": collection.shard.count(q.CountRequest(filter=filter_of(body), exact=True))}


def set_payload(collection, body):
    update = q.UpdateOperation
    if body.get("points") is not None:
        operation = update.set_payload(body["points"], body["payload"])
    else:
        operation = update.set_payload_by_filter(filter_of(body), body["payload"])
    collection.shard.update(operation)
    return {"operation_id": 0, "status": "completed"}


def delete(collection, body):
    collection.shard.update(q.UpdateOperation.delete_points_by_filter(filter_of(body)))
    return {"operation_id": 0, "status": "completed"}


def create_index(collection, body):
    name, schema = body["field_name"], body["field_schema"]
    collection.shard.update(q.UpdateOperation.create_field_index(name, TYPES[schema]))
    collection.indexes[name] = {"data_type": schema}
    return {"operation_id": 0, "status": "completed"}


def info(collection, _body):
    return {
        "status": "green",
        "config": {"params": collection.params},
        "payload_schema": collection.indexes,
    }


CALLS = {
    "GET ": info,
    "PUT index": create_index,
    "PUT points": upsert,
    "POST points": retrieve,
    "POST points/query/batch": query_batch,
    "POST points/scroll": scroll,
    "POST points/count": count,
    "POST points/payload": set_payload,
    "POST points/delete": delete,
}
collections = {}


def answer(method, path, body):
    parts = [unquote(part) for part in path.strip("/").split("/") if part]
    if not parts:
        return {"title": "qdrant-edge behind HTTP", "version": "1.19.0"}
    name, call = parts[1], method + " " + "/".join(parts[2:])
    if call == "GET exists":
        return {"result": {"exists": name in collections}}
    if call == "PUT ":
        collections[name] = Collection(body)
        return {"result": True}
    if call == "DELETE ":
        collections.pop(name).drop()
        return {"result": True}
    return {"result": CALLS[call](collections[name], body)}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve(self):
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or "null")
        try:
            status, result = 200, answer(self.command, urlsplit(self.path).path, body)
        except Exception as error:
            status, result = 400, {"status": {"error": repr(error)}}
        text = json.dumps({"status": "ok", "time": 0, **result}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        # One thread serves one connection: a kept one would hold up all others.
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(text)
        self.close_connection = True

    do_GET = do_PUT = do_POST = do_DELETE = serve

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
# Ends with the test that started it, whose end closes this pipe.
threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
server.serve_forever()
for left in collections.values():
    left.drop()
