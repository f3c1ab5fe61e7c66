"""Drives a server with the REST transport of Actian's own client, and prints what it understood."""

import asyncio
import json
import sys

from actian_vectorai import exceptions
from actian_vectorai.transport.rest import RESTTransport

NAME = "a name/with #odd % characters"
ONE = "6fa459ea-ee8a-3ca4-894e-db77e160355e"
TWO = "16fd2706-8baf-433b-82eb-8c7fada847da"


async def refused(what):
    try:
        await what
    except exceptions.VectorAIError as error:
        return type(error).__name__
    return "accepted"


async def main(url, token):
    seen = {}
    async with RESTTransport(url, api_key=token) as server:
        seen["health"] = sorted(await server.health_check())
        seen["before"] = [await server.collections_list(), await server.collections_exists(NAME)]
        config = {"vectors": {"size": 3, "distance": "Cosine"}}
        seen["created"] = await server.collections_create(NAME, config)
        seen["created_again"] = await refused(server.collections_create(NAME, config))
        seen["missing"] = await refused(server.collections_get("elsewhere"))
        seen["listed"] = await server.collections_list()
        points = [
            {"id": ONE, "vector": [3.0, 0.0, 0.0], "payload": {"error_type": "KeyError", "n": 1}},
            {"id": TWO, "vector": [0.0, 3.0, 4.0], "payload": {"error_type": "TypeError", "n": 2}},
            {"id": 7, "vector": [0.0, 0.0, 1.0], "payload": {"error_type": "KeyError", "n": 3}},
        ]
        seen["upserted"] = (await server.points_upsert(NAME, points))["status"]
        wrong = [{"id": 8, "vector": [1.0, 0.0], "payload": {}}]
        seen["dimensions"] = await refused(server.points_upsert(NAME, wrong))
        seen["info"] = (await server.collections_get(NAME))["points_count"]
        key_error = {"must": [{"key": "error_type", "match": {"value": "KeyError"}}]}
        found = await server.points_search(NAME, [1.0, 0.0, 0.0], 5, filter=key_error)
        seen["found"] = [[str(hit["id"]), hit["score"], hit["payload"]["n"]] for hit in found]
        near = await server.points_search(NAME, [1.0, 0.0, 0.0], 5, score_threshold=0.5)
        seen["near"] = [str(hit["id"]) for hit in near]
        batch = await server.points_search_batch(NAME, [{"vector": [0.0, 0.0, 1.0], "limit": 1}])
        seen["batch"] = [[str(hit["id"]) for hit in hits] for hits in batch]
        got = await server.points_get(NAME, [TWO, 99], with_vector=True)
        seen["got"] = [[str(point["id"]), [round(x, 4) for x in point["vector"]]] for point in got]
        seen["count"] = await server.points_count(NAME, filter=key_error, exact=True)
        await server.points_set_payload(NAME, {"shown": 1}, ids=[ONE])
        await server.points_overwrite_payload(NAME, {"n": 9}, ids=[TWO])
        await server.points_delete_payload(NAME, ["n"], ids=[7])
        seen["payloads"] = [
            point["payload"] for point in await server.points_get(NAME, [ONE, TWO, 7])
        ]
        await server.points_clear_payload(NAME, ids=[7, 99])
        await server.points_update_vectors(NAME, [{"id": 7, "vector": [1.0, 0.0, 0.0]}])
        found = await server.points_search(NAME, [1.0, 0.0, 0.0], 2)
        seen["moved"] = sorted(str(hit["id"]) for hit in found)
        seen["strict_delete"] = await refused(server.points_delete(NAME, ids=[ONE, 99]))
        await server.points_delete(NAME, ids=[ONE, 99], strict=False)
        seen["left"] = await server.points_count(NAME)
        seen["dropped"] = await server.collections_delete(NAME)
    async with RESTTransport(url, api_key="another") as stranger:
        seen["stranger"] = await refused(stranger.collections_list())
    print(json.dumps(seen))


asyncio.run(main(sys.argv[1], sys.argv[2]))
